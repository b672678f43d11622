-- The foreign keys that the migration before added without looking at the rows that were there. Reading them holds nobody up.
ALTER TABLE "llave" VALIDATE CONSTRAINT "llave_comercio_id_fkey";
ALTER TABLE "llave" VALIDATE CONSTRAINT "llave_operador_id_fkey";
ALTER TABLE "guia" VALIDATE CONSTRAINT "guia_comercio_id_fkey";
ALTER TABLE "webhook" VALIDATE CONSTRAINT "webhook_comercio_id_fkey";
