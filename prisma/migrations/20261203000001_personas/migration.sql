-- Persons who work for the courier company or for merchants. A person belongs to no merchant by itself: a membership ties
-- it to one, and one person may have several.
CREATE TABLE "persona" (
    "id" UUID NOT NULL,
    "persona" TEXT NOT NULL,
    "correo" TEXT,
    "nombre" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "persona_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "persona_persona_key" ON "persona"("persona");
CREATE UNIQUE INDEX "persona_correo_key" ON "persona"("correo");

CREATE TABLE "membresia" (
    "id" UUID NOT NULL,
    "membresia" TEXT NOT NULL,
    "persona_id" UUID NOT NULL,
    "ambito" TEXT NOT NULL,
    "alcances" TEXT[],
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "membresia_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "membresia_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "membresia_membresia_key" ON "membresia"("membresia");
CREATE UNIQUE INDEX "membresia_persona_id_ambito_key" ON "membresia"("persona_id", "ambito");
CREATE INDEX "membresia_ambito_idx" ON "membresia"("ambito");

CREATE TABLE "invitacion" (
    "huella" BYTEA NOT NULL,
    "invitacion" TEXT NOT NULL,
    "correo" TEXT,
    "nombre" TEXT,
    "ambito" TEXT NOT NULL,
    "alcances" TEXT[],
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitacion_pkey" PRIMARY KEY ("huella")
);
CREATE UNIQUE INDEX "invitacion_invitacion_key" ON "invitacion"("invitacion");
CREATE INDEX "invitacion_correo_idx" ON "invitacion"("correo");
CREATE INDEX "invitacion_vence_en_idx" ON "invitacion"("vence_en");

CREATE TABLE "codigo_de_entrada" (
    "huella" BYTEA NOT NULL,
    "persona_id" UUID,
    "codigo_hash" BYTEA NOT NULL,
    "intentos" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "codigo_de_entrada_pkey" PRIMARY KEY ("huella")
);
CREATE INDEX "codigo_de_entrada_persona_id_creado_en_idx" ON "codigo_de_entrada"("persona_id", "creado_en");
CREATE INDEX "codigo_de_entrada_creado_en_idx" ON "codigo_de_entrada"("creado_en");

CREATE TABLE "sesion_persona" (
    "hash" BYTEA NOT NULL,
    "sesion" TEXT NOT NULL,
    "persona_id" UUID NOT NULL,
    "membresia_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "dispositivo" TEXT NOT NULL,
    "red" TEXT,
    "presencia_en" TIMESTAMPTZ(3) NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sesion_persona_pkey" PRIMARY KEY ("hash"),
    CONSTRAINT "sesion_persona_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "sesion_persona_sesion_key" ON "sesion_persona"("sesion");
CREATE INDEX "sesion_persona_persona_id_creado_en_idx" ON "sesion_persona"("persona_id", "creado_en");
CREATE INDEX "sesion_persona_vence_en_idx" ON "sesion_persona"("vence_en");

GRANT SELECT, INSERT, UPDATE, DELETE ON persona, membresia, invitacion, codigo_de_entrada, sesion_persona TO guias_operacion, guias_trabajos;
