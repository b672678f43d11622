-- Telephones that corrections replaced. A person's data are found by a former telephone, too.
CREATE TABLE "telefono_anterior" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "telefono" TEXT NOT NULL,

    CONSTRAINT "telefono_anterior_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);
CREATE INDEX "telefono_anterior_telefono_idx" ON "telefono_anterior"("telefono");

GRANT SELECT, INSERT, UPDATE, DELETE ON telefono_anterior TO guias_operacion, guias_trabajos;
GRANT SELECT ON telefono_anterior TO guias_lectura;
GRANT SELECT, INSERT, UPDATE ON telefono_anterior TO guias_api;
ALTER TABLE telefono_anterior ENABLE ROW LEVEL SECURITY;
CREATE POLICY de_sus_comercios ON telefono_anterior TO guias_api
  USING ((comercio_id = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE);
CREATE POLICY de_todos ON telefono_anterior TO guias_operacion, guias_trabajos USING (true);
CREATE POLICY de_lectura ON telefono_anterior FOR SELECT TO guias_lectura USING (true);

-- When a label was last made; a later correction makes it out of date.
ALTER TABLE "guia" ADD COLUMN "etiqueta_en" TIMESTAMPTZ(3);
