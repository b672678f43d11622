-- Live requests that only the mailbox has. A worker with messaging looks for them every few minutes, and test guides fill the
-- mailbox, so the search needs an index of its own.
CREATE INDEX CONCURRENTLY "mensaje_sin_salida_idx" ON "mensaje"("guia_id") WHERE (canal = 'buzon'::text AND modo = 'live'::text AND estado = ANY (ARRAY['pendiente'::text, 'enviado'::text]));
