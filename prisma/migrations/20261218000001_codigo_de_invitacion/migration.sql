-- An invitation to the courier company also needs a code, which its mail does not have. A session that was opened with it
-- may add the person's first second factor.
ALTER TABLE "invitacion" ADD COLUMN "codigo_hash" BYTEA, ADD COLUMN "intentos" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "sesion_persona" ADD COLUMN "alta" BOOLEAN NOT NULL DEFAULT false;
