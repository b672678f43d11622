-- Second factor of persons: apps that give codes (TOTP), recovery codes, and sign-ins that wait for the second factor.
ALTER TABLE "sesion_persona" ADD COLUMN "segundo_factor" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "segundo_factor" (
    "persona_id" UUID NOT NULL,
    "secreto" BYTEA,
    "paso" INTEGER,
    "creado_en" TIMESTAMPTZ(3),
    "usado_en" TIMESTAMPTZ(3),
    "nuevo" BYTEA,
    "nuevo_vence_en" TIMESTAMPTZ(3),
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "intentos_desde" TIMESTAMPTZ(3),

    CONSTRAINT "segundo_factor_pkey" PRIMARY KEY ("persona_id"),
    CONSTRAINT "segundo_factor_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "codigo_de_recuperacion" (
    "persona_id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "codigo_de_recuperacion_pkey" PRIMARY KEY ("persona_id", "huella"),
    CONSTRAINT "codigo_de_recuperacion_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "entrada_a_medias" (
    "huella" BYTEA NOT NULL,
    "persona_id" UUID NOT NULL,
    "intentos" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "entrada_a_medias_pkey" PRIMARY KEY ("huella")
);
CREATE INDEX "entrada_a_medias_persona_id_idx" ON "entrada_a_medias"("persona_id");
CREATE INDEX "entrada_a_medias_vence_en_idx" ON "entrada_a_medias"("vence_en");

GRANT SELECT, INSERT, UPDATE, DELETE ON segundo_factor, codigo_de_recuperacion, entrada_a_medias TO guias_operacion, guias_trabajos;
