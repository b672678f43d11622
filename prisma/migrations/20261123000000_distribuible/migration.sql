-- What Citus asks of a schema that it shall distribute (server/arranque/distribuir.ts), and nothing that PostgreSQL loses by:
-- each unique key of a merchant's table has comercio_id in it, and no foreign key follows a change of it (ids never change).
-- The statements of the version before run on it as on what was.

-- Those that take their parents' part of a foreign key first, as requests do: another order would be a deadlock with them.
LOCK TABLE "guia", "webhook", "llave", "operador", "comercio" IN ACCESS EXCLUSIVE MODE;

CREATE UNIQUE INDEX "enlace_corto_id_comercio_id_key" ON "enlace_corto"("id", "comercio_id");
CREATE UNIQUE INDEX "mensaje_id_comercio_id_key" ON "mensaje"("id", "comercio_id");
CREATE UNIQUE INDEX "prueba_entrega_id_comercio_id_key" ON "prueba_entrega"("id", "comercio_id");
CREATE UNIQUE INDEX "recuperacion_paso_comercio_id_key" ON "recuperacion"("paso", "comercio_id");
DROP INDEX "enlace_corto_id_key";
DROP INDEX "mensaje_id_key";
DROP INDEX "prueba_entrega_id_key";
DROP INDEX "recuperacion_paso_key";

ALTER TABLE "llave"
  DROP CONSTRAINT "llave_comercio_id_fkey",
  DROP CONSTRAINT "llave_operador_id_fkey",
  ADD CONSTRAINT "llave_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE NO ACTION NOT VALID,
  ADD CONSTRAINT "llave_operador_id_fkey" FOREIGN KEY ("operador_id") REFERENCES "operador"("id") ON DELETE RESTRICT ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "guia"
  DROP CONSTRAINT "guia_comercio_id_fkey",
  ADD CONSTRAINT "guia_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "webhook"
  DROP CONSTRAINT "webhook_comercio_id_fkey",
  ADD CONSTRAINT "webhook_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE NO ACTION NOT VALID;

CREATE TABLE "dueno" (
    "clave" TEXT NOT NULL,
    "comercio_id" UUID NOT NULL,

    CONSTRAINT "dueno_pkey" PRIMARY KEY ("clave")
);
CREATE TABLE "flujo" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "numero" BIGINT NOT NULL,

    CONSTRAINT "flujo_pkey" PRIMARY KEY ("comercio_id","modo")
);
CREATE TABLE "dos_fases" (
    "nada" INTEGER NOT NULL,

    CONSTRAINT "dos_fases_pkey" PRIMARY KEY ("nada")
);

GRANT SELECT, INSERT, UPDATE, DELETE ON dueno, flujo, dos_fases TO guias_operacion, guias_trabajos;
GRANT SELECT, INSERT, UPDATE ON dueno, flujo TO guias_api;
GRANT SELECT, DELETE ON dos_fases TO guias_api;
GRANT SELECT ON dueno, flujo, dos_fases TO guias_lectura;
DO $$
DECLARE
  tabla text;
BEGIN
  FOREACH tabla IN ARRAY ARRAY['dueno', 'flujo'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tabla);
    EXECUTE format('CREATE POLICY de_sus_comercios ON %I TO guias_api USING ((comercio_id = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE)', tabla);
    EXECUTE format('CREATE POLICY de_todos ON %I TO guias_operacion, guias_trabajos USING (true)', tabla);
    EXECUTE format('CREATE POLICY de_lectura ON %I FOR SELECT TO guias_lectura USING (true)', tabla);
  END LOOP;
END $$;
