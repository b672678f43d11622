-- Failed second factors of a person, counted by the hour, so that the audit record gets a bounded number of lines.
ALTER TABLE "segundo_factor" ADD COLUMN "fallas" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "fallas_desde" TIMESTAMPTZ(3);
