-- Words by which operators find a guide (server/domain/busqueda). A job writes them from the events of guides, so that a
-- creation does no work for the search.
CREATE TABLE "busqueda" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "claves" tsvector NOT NULL,

    CONSTRAINT "busqueda_pkey" PRIMARY KEY ("comercio_id","modo","id")
);
-- Rows wait in the pending list and enter the index together, which costs less. A search reads that list from its beginning
-- to its end, so it stays small.
CREATE INDEX "busqueda_claves_idx" ON "busqueda" USING GIN ("claves") WITH (fastupdate = on, gin_pending_list_limit = 256);

-- Last event that the job has read, by part of the data.
CREATE TABLE "busqueda_avance" (
    "parte" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,
    "xid" xid8 NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,

    CONSTRAINT "busqueda_avance_pkey" PRIMARY KEY ("parte")
);

GRANT SELECT, INSERT, UPDATE, DELETE ON busqueda, busqueda_avance TO guias_operacion, guias_trabajos;
GRANT SELECT ON busqueda, busqueda_avance TO guias_lectura;
GRANT SELECT, INSERT, UPDATE ON busqueda TO guias_api;
ALTER TABLE busqueda ENABLE ROW LEVEL SECURITY;
CREATE POLICY de_sus_comercios ON busqueda TO guias_api USING ((comercio_id = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE);
CREATE POLICY de_todos ON busqueda TO guias_operacion, guias_trabajos USING (true);
CREATE POLICY de_lectura ON busqueda FOR SELECT TO guias_lectura USING (true);
