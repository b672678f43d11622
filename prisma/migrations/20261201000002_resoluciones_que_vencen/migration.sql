-- Guides whose decision the policy takes. Other guides are not in this index.
CREATE INDEX CONCURRENTLY "guia_resolucion_vence_idx" ON "guia"("resolucion_vence") WHERE (resolucion_vence IS NOT NULL);
