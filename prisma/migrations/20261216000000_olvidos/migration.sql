-- Erasures on request that this database has carried out, numbered without gaps. The request itself lies in the file
-- storage, sealed, so that a database restored to an earlier instant finds it and carries it out again.
CREATE TABLE "olvido" (
    "numero" INTEGER NOT NULL,
    "hecho_en" TIMESTAMPTZ(3) NOT NULL,
    "guardado" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "olvido_pkey" PRIMARY KEY ("numero")
);
CREATE INDEX "olvido_guardado_idx" ON "olvido"("hecho_en") WHERE guardado;

GRANT SELECT, INSERT, UPDATE ON olvido TO guias_operacion, guias_trabajos;
GRANT SELECT ON olvido TO guias_lectura;
