-- Marks the credentials that the embedded default makes for a first try: they work on that machine alone. The start marks
-- those that an earlier version made (server/arranque/demo.ts).
ALTER TABLE "llave" ADD COLUMN "demostracion" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "repartidor" ADD COLUMN "demostracion" BOOLEAN NOT NULL DEFAULT false;
