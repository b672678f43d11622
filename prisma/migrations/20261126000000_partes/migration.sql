-- Where merchants' rows lie in parts (server/data/citus): the parts, by numbers that are never given twice, and the lines of the
-- audit record that are written beside what they tell of, until they are collected. Elsewhere both stay empty.
CREATE TABLE "parte" (
    "numero" INTEGER NOT NULL,
    "desde" INTEGER NOT NULL,
    "hasta" INTEGER NOT NULL,
    "era" INTEGER NOT NULL,
    "nodo" INTEGER NOT NULL,
    "nadie" UUID NOT NULL,

    CONSTRAINT "parte_pkey" PRIMARY KEY ("numero")
);
CREATE UNIQUE INDEX "parte_desde_hasta_key" ON "parte"("desde", "hasta");
GRANT SELECT ON parte TO guias_operacion, guias_trabajos, guias_lectura;

CREATE TABLE "bitacora_de_parte" (
    "parte" UUID NOT NULL,
    "id" UUID NOT NULL,
    "linea" TEXT NOT NULL,
    "comercio_id" UUID,
    "modo" TEXT,
    "accion" TEXT NOT NULL,
    "quien_tipo" TEXT NOT NULL,
    "quien" TEXT,
    "llave" TEXT,
    "sobre_tipo" TEXT,
    "sobre" TEXT,
    "campos" TEXT[],
    "antes" JSONB,
    "despues" JSONB,
    "id_solicitud" TEXT,
    "red" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "bitacora_de_parte_pkey" PRIMARY KEY ("parte", "id")
);
GRANT SELECT, INSERT, DELETE ON bitacora_de_parte TO guias_operacion, guias_trabajos;
GRANT SELECT, INSERT ON bitacora_de_parte TO guias_api;
GRANT SELECT ON bitacora_de_parte TO guias_lectura;
ALTER TABLE bitacora_de_parte ENABLE ROW LEVEL SECURITY;
CREATE POLICY de_sus_comercios ON bitacora_de_parte TO guias_api
  USING ((comercio_id = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE);
CREATE POLICY de_todos ON bitacora_de_parte TO guias_operacion, guias_trabajos USING (true);
CREATE POLICY de_lectura ON bitacora_de_parte FOR SELECT TO guias_lectura USING (true);

-- What the feed sees, below which transaction it may be served, and where it ends: in the schema of a part there are others of
-- these names.
CREATE FUNCTION flujo_ahora() RETURNS pg_snapshot STABLE PARALLEL SAFE LANGUAGE sql RETURN pg_current_snapshot();
CREATE FUNCTION flujo_hasta() RETURNS xid8 STABLE PARALLEL SAFE LANGUAGE sql RETURN pg_snapshot_xmin(pg_current_snapshot());
CREATE FUNCTION flujo_fin() RETURNS xid8 STABLE PARALLEL SAFE LANGUAGE sql RETURN pg_snapshot_xmax(pg_current_snapshot());
