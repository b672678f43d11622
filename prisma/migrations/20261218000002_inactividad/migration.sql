-- End of a person's session that nobody uses. Null: the version before wrote the row, and the first use sets it.
ALTER TABLE "sesion_persona" ADD COLUMN "inactiva_en" TIMESTAMPTZ(3);
