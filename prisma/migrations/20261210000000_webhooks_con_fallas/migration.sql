-- Endpoints that fail, of all merchants: the office lists them, longest first, and healthy endpoints cost nothing.
CREATE INDEX CONCURRENTLY "webhook_con_fallas_idx" ON "webhook"("modo", "primera_falla_en") WHERE (estado <> 'eliminado'::text AND (primera_falla_en IS NOT NULL OR estado = 'deshabilitado'::text));
