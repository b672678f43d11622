-- Corrections, for their encryption with a new master key. Other events are not in this index.
CREATE INDEX CONCURRENTLY "evento_cambios_idx" ON "evento"("comercio_id", "modo", "guia_id", "secuencia") WHERE (cambios IS NOT NULL);
