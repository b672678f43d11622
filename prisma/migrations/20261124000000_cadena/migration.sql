-- The chain's order of events, for whoever says that their sequence is above 0, as each one's is: an index of `xid` alone is
-- one that PostgreSQL would read a merchant's feed from, through everybody's events.
CREATE INDEX CONCURRENTLY "evento_cadena_idx" ON "evento"("xid") WHERE (secuencia > 0);
