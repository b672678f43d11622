-- The version before makes its links without it, as long as it still runs, by reading the table.
DROP INDEX CONCURRENTLY "evento_xid_idx";
