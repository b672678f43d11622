-- Webhook bodies are built again when they are resent. `forma` is the version of a body's members (null: the first), and
-- `cambios` has the encrypted old and new values of a correction, so that bodies of earlier events keep the old values.
-- A creation stores null in all three columns.
ALTER TABLE "evento" ADD COLUMN "forma" SMALLINT, ADD COLUMN "cambios" BYTEA;
ALTER TABLE "guia" ADD COLUMN "ultima_correccion" INTEGER;
