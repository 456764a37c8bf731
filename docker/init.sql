-- Bifold's account on a server: anything within the shards, nothing beside.
CREATE USER 'bifold'@'%' IDENTIFIED BY 'bifold-secret';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES,
  LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER
  ON `mall\_%`.* TO 'bifold'@'%';
