-- Idempotency keys of merchants' requests, kept for 24 hours. A row is committed together with the effect of its request.
-- `huella` is a keyed digest of the request, and `identificador` names the result. The answer is not stored, because some
-- answers contain secrets.
CREATE TABLE "clave_idempotencia" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "operacion" TEXT NOT NULL,
    "idempotencia" TEXT NOT NULL,
    "huella" TEXT NOT NULL,
    "identificador" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "clave_idempotencia_pkey" PRIMARY KEY ("comercio_id","modo","operacion","idempotencia")
);
CREATE INDEX "clave_idempotencia_creado_en_idx" ON "clave_idempotencia"("creado_en");

GRANT SELECT, INSERT, UPDATE ON clave_idempotencia TO guias_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON clave_idempotencia TO guias_operacion, guias_trabajos;
GRANT SELECT ON clave_idempotencia TO guias_lectura;

ALTER TABLE clave_idempotencia ENABLE ROW LEVEL SECURITY;
CREATE POLICY de_sus_comercios ON clave_idempotencia TO guias_api
  USING ((comercio_id = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE);
CREATE POLICY de_todos ON clave_idempotencia TO guias_operacion, guias_trabajos USING (true);
CREATE POLICY de_lectura ON clave_idempotencia FOR SELECT TO guias_lectura USING (true);
