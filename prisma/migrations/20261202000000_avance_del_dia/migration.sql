-- Guides that a courier delivered or returned, by the time. Only a guide's last step writes to this index.
CREATE INDEX CONCURRENTLY "guia_terminada_idx" ON "guia"("custodio", "estado_en") WHERE ((custodio IS NOT NULL) AND (estado = ANY (ARRAY['entregado'::text, 'devuelto'::text])));
