-- Guides with an open decision, for the operator.
CREATE INDEX CONCURRENTLY "guia_resolucion_todas_idx" ON "guia"("id") WHERE ((resolucion ->> 'estado'::text) = ANY (ARRAY['pendiente'::text, 'tomada'::text]));
