-- Bifold's account on a server: anything within the shards, nothing beside.
CREATE USER 'bifold'@'%' IDENTIFIED BY 'bifold-secret';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES,
  LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER
  ON `mall\_%`.* TO 'bifold'@'%';
-- For transactions over several servers: the table of their outcomes, and the list of what is prepared.
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `bifold`.* TO 'bifold'@'%';
GRANT XA_RECOVER_ADMIN ON *.* TO 'bifold'@'%';
