-- Notes of operators about a guide, for operators alone. A note that the merchant reads is an event (guia.nota).
CREATE TABLE "nota" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "nota" TEXT NOT NULL,
    "texto" TEXT NOT NULL,
    "autor" TEXT NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "nota_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","id")
);

-- Merchants do not read them, so their role has no right.
GRANT SELECT, INSERT, UPDATE, DELETE ON nota TO guias_operacion, guias_trabajos;
GRANT SELECT ON nota TO guias_lectura;
ALTER TABLE nota ENABLE ROW LEVEL SECURITY;
CREATE POLICY de_todos ON nota TO guias_operacion, guias_trabajos USING (true);
CREATE POLICY de_lectura ON nota FOR SELECT TO guias_lectura USING (true);
