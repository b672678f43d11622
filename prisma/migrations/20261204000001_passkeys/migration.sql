-- Passkeys of persons, and the challenges that browsers answer with them.
CREATE TABLE "passkey" (
    "id" UUID NOT NULL,
    "passkey" TEXT NOT NULL,
    "persona_id" UUID NOT NULL,
    "credencial" BYTEA NOT NULL,
    "clave" BYTEA NOT NULL,
    "contador" BIGINT NOT NULL,
    "sincronizada" BOOLEAN NOT NULL,
    "dispositivo" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "usado_en" TIMESTAMPTZ(3),

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "passkey_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "passkey_passkey_key" ON "passkey"("passkey");
CREATE UNIQUE INDEX "passkey_credencial_key" ON "passkey"("credencial");
CREATE INDEX "passkey_persona_id_creado_en_idx" ON "passkey"("persona_id", "creado_en");

CREATE TABLE "reto_de_passkey" (
    "huella" BYTEA NOT NULL,
    "persona_id" UUID,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reto_de_passkey_pkey" PRIMARY KEY ("huella")
);
CREATE INDEX "reto_de_passkey_persona_id_idx" ON "reto_de_passkey"("persona_id");
CREATE INDEX "reto_de_passkey_vence_en_idx" ON "reto_de_passkey"("vence_en");

GRANT SELECT, INSERT, UPDATE, DELETE ON passkey, reto_de_passkey TO guias_operacion, guias_trabajos;
