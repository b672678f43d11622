-- Assignments of guides to couriers for a day, by operators. Custody does not change until the courier's scan.
CREATE TABLE "asignacion" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "repartidor" TEXT NOT NULL,
    "fecha" DATE NOT NULL,
    "autor" TEXT NOT NULL,
    "asignado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "asignacion_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);
CREATE INDEX "asignacion_fecha_repartidor_idx" ON "asignacion"("fecha", "repartidor");

-- Merchants do not read assignments, so their role has no right.
GRANT SELECT, INSERT, UPDATE, DELETE ON asignacion TO guias_operacion, guias_trabajos;
GRANT SELECT ON asignacion TO guias_lectura;
ALTER TABLE asignacion ENABLE ROW LEVEL SECURITY;
CREATE POLICY de_todos ON asignacion TO guias_operacion, guias_trabajos USING (true);
CREATE POLICY de_lectura ON asignacion FOR SELECT TO guias_lectura USING (true);
