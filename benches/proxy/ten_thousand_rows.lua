-- One result of 10,000 rows, all of one key.

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("SELECT id, k, c FROM ten_thousand WHERE uid = 7")
end

function thread_done()
   con:disconnect()
end
