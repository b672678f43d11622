-- A merchant's guides with an open decision. An expression would be no index condition behind row-level security, and the
-- condition of a partial index is none.
CREATE INDEX CONCURRENTLY "guia_resolucion_idx" ON "guia"("comercio_id", "modo", "id") WHERE ((resolucion ->> 'estado'::text) = ANY (ARRAY['pendiente'::text, 'tomada'::text]));
