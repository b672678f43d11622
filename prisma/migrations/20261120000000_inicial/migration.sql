-- The whole schema of version 0.1.0: roles, tables with their indexes in the order of prisma/schema.prisma, then what
-- Prisma's language cannot say: append-only tables, rights, row-level security, functions. A comment on a column stands in
-- prisma/schema.prisma.

-- ---- Roles ----

-- Each statement of the service runs as one of these roles (server/data/scope.ts); only the owner of the tables migrates.
-- Roles belong to the whole server, so another database may have created them.
DO $$
DECLARE
  rol text;
BEGIN
  FOREACH rol IN ARRAY ARRAY['guias_api', 'guias_operacion', 'guias_trabajos', 'guias_lectura'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = rol) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', rol);
      END IF;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL; -- another database's migration was faster
      WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'Al usuario % le falta CREATEROLE para crear el rol %.', current_user, rol
          USING HINT = format('Un administrador puede darlo: CREATE ROLE %I NOLOGIN; GRANT %I TO %I;', rol, rol, current_user);
    END;
    IF NOT pg_has_role(current_user, rol, 'SET') THEN
      EXECUTE format('GRANT %I TO %I', rol, current_user);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), rol);
  END LOOP;
END $$;

-- ---- Merchants, operators and couriers ----

-- Merchant, with the policies of its evidence and of its failed attempts.
CREATE TABLE "comercio" (
    "id" UUID NOT NULL,
    "comercio" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "pais" TEXT,
    "estricto" BOOLEAN NOT NULL DEFAULT false,
    "ritmo_solicitudes" INTEGER,
    "ritmo_guias" INTEGER,
    "evidencia_fotos" SMALLINT NOT NULL DEFAULT 1,
    "evidencia_firma" TEXT NOT NULL DEFAULT 'obligatoria',
    "evidencia_documento" TEXT NOT NULL DEFAULT 'opcional',
    "politica_de_intentos_maximos" SMALLINT NOT NULL DEFAULT 3,
    "politica_de_intentos_dias_entre" SMALLINT NOT NULL DEFAULT 1,
    "politica_de_intentos_dias_para_decidir" SMALLINT NOT NULL DEFAULT 5,
    "politica_de_intentos_al_vencer" TEXT NOT NULL DEFAULT 'devolver',
    "politica_de_intentos_destinatario_decide" BOOLEAN NOT NULL DEFAULT false,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "comercio_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "comercio_comercio_key" ON "comercio"("comercio");

-- Person or program of the courier company that uses keys.
CREATE TABLE "operador" (
    "id" UUID NOT NULL,
    "operador" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "revocado_en" TIMESTAMPTZ(3),

    CONSTRAINT "operador_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "operador_operador_key" ON "operador"("operador");

-- API key of a merchant or an operator. Looked up by its own id, because a request names no merchant before its key is
-- known.
CREATE TABLE "llave" (
    "id" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "comercio_id" UUID,
    "operador_id" UUID,
    "hash" BYTEA NOT NULL,
    "alcances" TEXT[],
    "redes" TEXT[],
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3),
    "revocado_en" TIMESTAMPTZ(3),
    "usado_en" TIMESTAMPTZ(3),
    "demostracion" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "llave_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "llave_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE NO ACTION,
    CONSTRAINT "llave_operador_id_fkey" FOREIGN KEY ("operador_id") REFERENCES "operador"("id") ON DELETE RESTRICT ON UPDATE NO ACTION
);
CREATE INDEX "llave_comercio_id_creado_en_idx" ON "llave"("comercio_id", "creado_en");
CREATE INDEX "llave_operador_id_creado_en_idx" ON "llave"("operador_id", "creado_en");

-- Courier. Works for the operator and carries guides of every merchant.
CREATE TABLE "repartidor" (
    "id" UUID NOT NULL,
    "repartidor" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "telefono" TEXT,
    "codigo_hash" BYTEA,
    "version" INTEGER NOT NULL DEFAULT 1,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "demostracion" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "repartidor_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "repartidor_repartidor_key" ON "repartidor"("repartidor");
CREATE UNIQUE INDEX "repartidor_codigo_hash_key" ON "repartidor"("codigo_hash");

-- Session of a courier's phone. Valid until vence_en, as long as the courier's version equals the session's.
CREATE TABLE "sesion_repartidor" (
    "hash" BYTEA NOT NULL,
    "repartidor_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sesion_repartidor_pkey" PRIMARY KEY ("hash"),
    CONSTRAINT "sesion_repartidor_repartidor_id_fkey" FOREIGN KEY ("repartidor_id") REFERENCES "repartidor"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "sesion_repartidor_repartidor_id_creado_en_idx" ON "sesion_repartidor"("repartidor_id", "creado_en");
CREATE INDEX "sesion_repartidor_vence_en_idx" ON "sesion_repartidor"("vence_en");

-- ---- Persons, their sessions and factors ----

-- Person who works for the courier company or for merchants. Its row stays when it is erased, without mail and name.
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

-- Scopes of a person at the courier company or at a merchant.
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
CREATE INDEX "membresia_ambito_idx" ON "membresia"("ambito");
CREATE UNIQUE INDEX "membresia_persona_id_ambito_key" ON "membresia"("persona_id", "ambito");

-- Invitation that is still open. Accepting it deletes the row.
CREATE TABLE "invitacion" (
    "huella" BYTEA NOT NULL,
    "codigo_hash" BYTEA,
    "intentos" INTEGER NOT NULL DEFAULT 0,
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

-- Six-digit code that a browser asked for.
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

-- Session of a person in a browser, acting through one membership. Without that membership it is invalid.
CREATE TABLE "sesion_persona" (
    "hash" BYTEA NOT NULL,
    "sesion" TEXT NOT NULL,
    "persona_id" UUID NOT NULL,
    "membresia_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "dispositivo" TEXT NOT NULL,
    "red" TEXT,
    "presencia_en" TIMESTAMPTZ(3) NOT NULL,
    "alta" BOOLEAN NOT NULL DEFAULT false,
    "segundo_factor" BOOLEAN NOT NULL DEFAULT false,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,
    "inactiva_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sesion_persona_pkey" PRIMARY KEY ("hash"),
    CONSTRAINT "sesion_persona_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "sesion_persona_sesion_key" ON "sesion_persona"("sesion");
CREATE INDEX "sesion_persona_persona_id_creado_en_idx" ON "sesion_persona"("persona_id", "creado_en");
CREATE INDEX "sesion_persona_vence_en_idx" ON "sesion_persona"("vence_en");

-- Request of one person that another decides.
CREATE TABLE "aprobacion" (
    "id" UUID NOT NULL,
    "aprobacion" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "contenido" BYTEA,
    "estado" TEXT NOT NULL,
    "pide" TEXT NOT NULL,
    "decide" TEXT,
    "razon" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,
    "decidido_en" TIMESTAMPTZ(3),

    CONSTRAINT "aprobacion_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "aprobacion_aprobacion_key" ON "aprobacion"("aprobacion");
CREATE INDEX "aprobacion_vence_en_idx" ON "aprobacion"("vence_en");

-- Public key of a person's authenticator (WebAuthn).
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

-- Challenge that waits for an answer with a passkey. The answer deletes the row.
CREATE TABLE "reto_de_passkey" (
    "huella" BYTEA NOT NULL,
    "persona_id" UUID,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reto_de_passkey_pkey" PRIMARY KEY ("huella")
);
CREATE INDEX "reto_de_passkey_persona_id_idx" ON "reto_de_passkey"("persona_id");
CREATE INDEX "reto_de_passkey_vence_en_idx" ON "reto_de_passkey"("vence_en");

-- Second factor of a person besides passkeys: an app that gives codes (TOTP, RFC 6238), and the attempts of a day.
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
    "fallas" INTEGER NOT NULL DEFAULT 0,
    "fallas_desde" TIMESTAMPTZ(3),

    CONSTRAINT "segundo_factor_pkey" PRIMARY KEY ("persona_id"),
    CONSTRAINT "segundo_factor_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- Code that stands for the second factor once. Its use deletes the row.
CREATE TABLE "codigo_de_recuperacion" (
    "persona_id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "codigo_de_recuperacion_pkey" PRIMARY KEY ("persona_id","huella"),
    CONSTRAINT "codigo_de_recuperacion_persona_id_fkey" FOREIGN KEY ("persona_id") REFERENCES "persona"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- Sign-in of a person who gave the code of the mail, and whose second factor is missing.
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

-- Another mail address that a person wants, and the code that was mailed to it.
CREATE TABLE "cambio_de_correo" (
    "id" UUID NOT NULL,
    "persona_id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "correo" TEXT NOT NULL,
    "anterior" TEXT,
    "codigo_hash" BYTEA NOT NULL,
    "intentos" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cambio_de_correo_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "cambio_de_correo_persona_id_creado_en_idx" ON "cambio_de_correo"("persona_id", "creado_en");
CREATE INDEX "cambio_de_correo_creado_en_idx" ON "cambio_de_correo"("creado_en");

-- Mail to a person, written in the transaction of its cause and sent by the queue correos.
CREATE TABLE "correo" (
    "id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "tipo" TEXT NOT NULL,
    "contenido" BYTEA,
    "canal" TEXT,
    "estado" TEXT NOT NULL,
    "intentos" INTEGER NOT NULL,
    "codigo" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,
    "enviado_en" TIMESTAMPTZ(3),
    "rebotado_en" TIMESTAMPTZ(3),

    CONSTRAINT "correo_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "correo_pendiente_idx" ON "correo"("proximo_en") WHERE (estado = ANY (ARRAY['pendiente'::text, 'enviando'::text]));
CREATE INDEX "correo_huella_creado_en_idx" ON "correo"("huella", "creado_en");
CREATE INDEX "correo_creado_en_idx" ON "correo"("creado_en");

-- ---- Guides and their events ----

-- Guide: one parcel of a merchant, with its recipient and its present state.
CREATE TABLE "guia" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "guia" TEXT NOT NULL,
    "external_ref" TEXT,
    "huellas" TEXT,
    "estado" TEXT NOT NULL,
    "estado_en" TIMESTAMPTZ(3) NOT NULL,
    "custodio" TEXT,
    "telefono" TEXT,
    "destinatario" TEXT,
    "departamento" TEXT NOT NULL,
    "municipio" TEXT NOT NULL,
    "direccion" TEXT,
    "indicaciones" TEXT,
    "contenido" TEXT,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "maps_url" TEXT,
    "recogida" JSONB NOT NULL,
    "metadatos" JSONB,
    "ubicacion_estado" TEXT NOT NULL,
    "ubicacion_origen" TEXT,
    "ubicacion_lat" DOUBLE PRECISION,
    "ubicacion_lng" DOUBLE PRECISION,
    "ubicacion_extra" JSONB,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "decision" JSONB,
    "decision_vence" TIMESTAMPTZ(3),
    "advertencias" JSONB NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "ultima_correccion" INTEGER,
    "etiqueta_en" TIMESTAMPTZ(3),
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "actualizado_en" TIMESTAMPTZ(3) NOT NULL,
    "datos_borrados_en" TIMESTAMPTZ(3),

    CONSTRAINT "guia_pkey" PRIMARY KEY ("comercio_id","modo","id"),
    CONSTRAINT "guia_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE NO ACTION
);
CREATE INDEX "guia_comercio_id_modo_estado_id_idx" ON "guia"("comercio_id", "modo", "estado", "id");
-- The operator's search, over all merchants.
CREATE INDEX "guia_telefono_id_idx" ON "guia"("telefono", "id");
-- Guides whose data are due for erasure.
CREATE INDEX "guia_por_olvidar_idx" ON "guia"("estado_en") WHERE ((datos_borrados_en IS NULL) AND (estado = ANY (ARRAY['entregado'::text, 'devuelto'::text, 'cancelado'::text])));
-- The operator's lists. The condition keeps these two indexes from lists of one merchant: PostgreSQL would read the guides of all merchants
-- until it finds those of a merchant who has none among the newest. Every guide has a code.
CREATE INDEX "guia_todas_idx" ON "guia"("modo", "id") WHERE (guia <> ''::text);
CREATE INDEX "guia_estado_todas_idx" ON "guia"("modo", "estado", "id") WHERE (guia <> ''::text);
CREATE INDEX "guia_ubicacion_idx" ON "guia"("comercio_id", "modo", "ubicacion_estado", "id") WHERE (ubicacion_estado <> 'confirmada'::text);
-- Guides whose decision the policy takes.
CREATE INDEX "guia_decision_vence_idx" ON "guia"("decision_vence") WHERE (decision_vence IS NOT NULL);
-- Guides with an open decision, of a merchant and of all. An index on the expression would not serve the condition
-- behind row-level security; the predicate of a partial index does.
CREATE INDEX "guia_decision_idx" ON "guia"("comercio_id", "modo", "id") WHERE ((decision ->> 'estado'::text) = ANY (ARRAY['pendiente'::text, 'tomada'::text]));
CREATE INDEX "guia_decision_todas_idx" ON "guia"("modo", "id") WHERE ((guia <> ''::text) AND ((decision ->> 'estado'::text) = ANY (ARRAY['pendiente'::text, 'tomada'::text])));
-- Guides that a courier delivered or returned, by the time.
CREATE INDEX "guia_terminada_idx" ON "guia"("custodio", "estado_en") WHERE ((custodio IS NOT NULL) AND (estado = ANY (ARRAY['entregado'::text, 'devuelto'::text])));
-- Guides that a courier carries.
CREATE INDEX "guia_custodio_idx" ON "guia"("custodio", "estado") WHERE (custodio IS NOT NULL);
CREATE UNIQUE INDEX "guia_comercio_id_modo_external_ref_key" ON "guia"("comercio_id", "modo", "external_ref");

-- Maps a guide's public identifier to its merchant, for requests that name no merchant (operators, public pages).
CREATE TABLE "guia_indice" (
    "guia" TEXT NOT NULL,
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,

    CONSTRAINT "guia_indice_pkey" PRIMARY KEY ("guia")
);

-- Note of an operator about a guide, for operators alone.
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

-- Assignment of a guide to a courier, by operators. Custody does not change until the courier's scan.
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

-- Keys by which operators find a guide, written by a job (server/domain/busqueda).
CREATE TABLE "busqueda" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "claves" tsvector NOT NULL,

    CONSTRAINT "busqueda_pkey" PRIMARY KEY ("comercio_id","modo","id")
);
-- Rows wait in the pending list and enter the index together, which costs less. A search reads the whole list, so it
-- stays small.
CREATE INDEX "busqueda_claves_idx" ON "busqueda" USING GIN ("claves") WITH (fastupdate = on, gin_pending_list_limit = 256);

-- Last event from which the job of the search has made keys, by part of the data (0: all data on one machine).
CREATE TABLE "busqueda_avance" (
    "parte" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,
    "xid" xid8 NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,

    CONSTRAINT "busqueda_avance_pkey" PRIMARY KEY ("parte")
);

-- Erasure on request that this database has carried out. The request lies in the file storage
-- (domain/personas/olvidos.ts).
CREATE TABLE "olvido" (
    "numero" INTEGER NOT NULL,
    "hecho_en" TIMESTAMPTZ(3) NOT NULL,
    "guardado" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "olvido_pkey" PRIMARY KEY ("numero")
);
CREATE INDEX "olvido_guardado_idx" ON "olvido"("hecho_en") WHERE (guardado);

-- Event of a guide. Append-only.
CREATE TABLE "evento" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "guia" TEXT NOT NULL,
    "external_ref" TEXT,
    "tipo" TEXT NOT NULL,
    "estado" TEXT NOT NULL,
    "estado_anterior" TEXT,
    "descripcion" TEXT,
    "motivo" TEXT,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "datos" JSONB,
    "foto" JSONB NOT NULL,
    "forma" SMALLINT,
    "cambios" BYTEA,
    "autor" TEXT,
    "custodio" TEXT,
    "idempotencia" TEXT,
    "huella" TEXT,
    "ocurrido_en" TIMESTAMPTZ(3) NOT NULL,
    "registrado_en" TIMESTAMPTZ(3) NOT NULL,
    "traza" TEXT,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),

    CONSTRAINT "evento_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);
-- Order of the audit chain. The index is partial, although the condition holds for all rows, so that no feed query uses
-- it.
CREATE INDEX "evento_cadena_idx" ON "evento"("xid") WHERE (secuencia > 0);
-- Corrections, for their encryption with a new master key.
CREATE INDEX "evento_cambios_idx" ON "evento"("comercio_id", "modo", "guia_id", "secuencia") WHERE (cambios IS NOT NULL);
CREATE INDEX "evento_comercio_id_modo_xid_guia_id_secuencia_idx" ON "evento"("comercio_id", "modo", "xid", "guia_id", "secuencia");
-- The feed filtered by type.
CREATE INDEX "evento_comercio_id_modo_tipo_xid_guia_id_secuencia_idx" ON "evento"("comercio_id", "modo", "tipo", "xid", "guia_id", "secuencia");

-- ---- Messages and locations ----

-- Message to a recipient, committed with its cause; a job sends it. The public id is men_<guia>_<numero>.
CREATE TABLE "mensaje" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "numero" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "guia" TEXT NOT NULL,
    "canal" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "telefono" TEXT,
    "estado" TEXT NOT NULL,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "kid" TEXT,
    "proveedor_id" TEXT,
    "codigo" TEXT,
    "motivo" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "enviado_en" TIMESTAMPTZ(3),
    "entregado_en" TIMESTAMPTZ(3),
    "leido_en" TIMESTAMPTZ(3),
    "vence_en" TIMESTAMPTZ(3),
    "abierta" BOOLEAN NOT NULL DEFAULT true,
    "decision_secuencia" INTEGER,

    CONSTRAINT "mensaje_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","numero")
);
CREATE INDEX "mensaje_pendiente_idx" ON "mensaje"("proximo_en") WHERE (estado = ANY (ARRAY['pendiente'::text, 'enviando'::text]));
CREATE INDEX "mensaje_abierto_idx" ON "mensaje"("vence_en") WHERE (abierta);
-- Live requests that only the mailbox has. Test guides fill the mailbox, so the search needs an index of its own.
CREATE INDEX "mensaje_sin_salida_idx" ON "mensaje"("guia_id") WHERE ((canal = 'buzon'::text) AND (modo = 'live'::text) AND (estado = 'pendiente'::text));
CREATE INDEX "mensaje_telefono_creado_en_idx" ON "mensaje"("telefono", "creado_en");
CREATE INDEX "mensaje_proveedor_id_idx" ON "mensaje"("proveedor_id");
CREATE UNIQUE INDEX "mensaje_id_comercio_id_key" ON "mensaje"("id", "comercio_id");

-- Maps the SHA-256 of a link's token to the message with the link, for requests that name no merchant.
CREATE TABLE "enlace_ubicacion" (
    "huella" BYTEA NOT NULL,
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "numero" INTEGER NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enlace_ubicacion_pkey" PRIMARY KEY ("huella")
);
CREATE INDEX "enlace_ubicacion_vence_en_idx" ON "enlace_ubicacion"("vence_en");

-- Notification from a messaging provider, stored as received; a job processes it. Equal bodies share one row.
CREATE TABLE "entrante" (
    "id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "cuerpo" TEXT NOT NULL,
    "recibido_en" TIMESTAMPTZ(3) NOT NULL,
    "hecho_en" TIMESTAMPTZ(3),

    CONSTRAINT "entrante_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "entrante_huella_key" ON "entrante"("huella");
CREATE INDEX "entrante_pendiente_idx" ON "entrante"("recibido_en") WHERE (hecho_en IS NULL);

-- Short map link of a guide whose coordinates are not resolved yet.
CREATE TABLE "enlace_corto" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "maps_url" TEXT NOT NULL,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enlace_corto_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);
CREATE INDEX "enlace_corto_proximo_en_idx" ON "enlace_corto"("proximo_en");
CREATE UNIQUE INDEX "enlace_corto_id_comercio_id_key" ON "enlace_corto"("id", "comercio_id");

-- Telephone that a correction replaced, until it is erased.
CREATE TABLE "telefono_anterior" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "telefono" TEXT NOT NULL,

    CONSTRAINT "telefono_anterior_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);
CREATE INDEX "telefono_anterior_telefono_idx" ON "telefono_anterior"("telefono");

-- ---- Idempotency keys ----

-- Idempotency key of a merchant's request, committed with the request's effect and kept for 24 hours
-- (server/domain/idempotencia/idempotencia.ts). The answer to a repetition is built again from identificador.
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
-- Deletion after 24 hours.
CREATE INDEX "clave_idempotencia_creado_en_idx" ON "clave_idempotencia"("creado_en");

-- ---- Webhooks ----

-- Endpoint to which a merchant's events are sent. A deleted endpoint keeps its row, without url, until its deliveries
-- are deleted.
CREATE TABLE "webhook" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "url" TEXT,
    "tipos" TEXT[],
    "descripcion" TEXT,
    "estado" TEXT NOT NULL,
    "motivo" TEXT,
    "estado_en" TIMESTAMPTZ(3) NOT NULL,
    "comprobado_en" TIMESTAMPTZ(3),
    "fallas" INTEGER NOT NULL DEFAULT 0,
    "primera_falla_en" TIMESTAMPTZ(3),
    "aviso" INTEGER NOT NULL DEFAULT 0,
    "freno_vence_en" TIMESTAMPTZ(3),
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "actualizado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("comercio_id","modo","webhook"),
    CONSTRAINT "webhook_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE NO ACTION
);
-- Endpoints that fail, of all merchants, longest first.
CREATE INDEX "webhook_con_fallas_idx" ON "webhook"("modo", "primera_falla_en") WHERE ((estado <> 'eliminado'::text) AND ((primera_falla_en IS NOT NULL) OR (estado = 'deshabilitado'::text)));
CREATE UNIQUE INDEX "webhook_comercio_id_modo_url_key" ON "webhook"("comercio_id", "modo", "url");

-- Encrypted secret that signs deliveries (server/domain/webhooks/secret.ts). After a rotation two secrets are valid for
-- a while.
CREATE TABLE "webhook_secreto" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "cifrado" BYTEA NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secreto_pkey" PRIMARY KEY ("comercio_id","modo","webhook","version")
);

-- Delivery of one event to one endpoint, written by the statement that writes the event. This table is the outbox and
-- the authoritative record of deliveries.
CREATE TABLE "webhook_aviso" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "evento" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "estado" TEXT NOT NULL,
    "causa" TEXT NOT NULL,
    "turno" INTEGER NOT NULL DEFAULT 0,
    "intento" INTEGER NOT NULL DEFAULT 0,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "ultimo_status" INTEGER,
    "ultimo_error" TEXT,
    "exito" JSON,
    "datos" JSONB,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "terminado_en" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_aviso_pkey" PRIMARY KEY ("comercio_id","modo","webhook","guia_id","secuencia")
);
CREATE INDEX "webhook_aviso_comercio_id_modo_webhook_creado_en_guia_id__idx" ON "webhook_aviso"("comercio_id", "modo", "webhook", "creado_en", "guia_id", "secuencia");
-- Due deliveries, in their order.
CREATE INDEX "webhook_aviso_pendiente_idx" ON "webhook_aviso"("comercio_id", "modo", "webhook", "proximo_en", "guia_id", "secuencia") WHERE (estado = 'pendiente'::text);
CREATE INDEX "webhook_aviso_fallido_idx" ON "webhook_aviso"("comercio_id", "modo", "webhook", "creado_en", "guia_id", "secuencia") WHERE (estado = 'fallido'::text);

-- Attempt at a delivery. Append-only.
CREATE TABLE "webhook_intento" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "numero" INTEGER NOT NULL,
    "tardio" BOOLEAN NOT NULL,
    "causa" TEXT NOT NULL,
    "iniciado_en" TIMESTAMPTZ(3) NOT NULL,
    "url" TEXT NOT NULL,
    "ip" TEXT,
    "secretos" INTEGER[],
    "status" INTEGER,
    "error" TEXT,
    "detalle" TEXT,
    "dns_ms" REAL,
    "conexion_ms" REAL,
    "tls_ms" REAL,
    "primer_byte_ms" REAL,
    "total_ms" REAL NOT NULL,
    "cabeceras" JSONB,
    "cuerpo" TEXT,
    "cuerpo_truncado" BOOLEAN NOT NULL,

    CONSTRAINT "webhook_intento_pkey" PRIMARY KEY ("comercio_id","modo","webhook","guia_id","secuencia","id")
);

-- Recovery of deliveries. It reads the merchant's events in the feed's order, one batch per job, and stores its
-- position.
CREATE TABLE "recuperacion" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "recuperacion" TEXT NOT NULL,
    "paso" UUID NOT NULL,
    "desde" TIMESTAMPTZ(3) NOT NULL,
    "hasta" TIMESTAMPTZ(3) NOT NULL,
    "todas" BOOLEAN NOT NULL,
    "posicion" JSONB NOT NULL,
    "eventos" INTEGER NOT NULL DEFAULT 0,
    "avisos" INTEGER NOT NULL DEFAULT 0,
    "estado" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "terminado_en" TIMESTAMPTZ(3),

    CONSTRAINT "recuperacion_pkey" PRIMARY KEY ("comercio_id","modo","webhook","recuperacion")
);
CREATE INDEX "recuperacion_estado_creado_en_idx" ON "recuperacion"("estado", "creado_en");
CREATE UNIQUE INDEX "recuperacion_paso_comercio_id_key" ON "recuperacion"("paso", "comercio_id");
-- One running recovery per endpoint.
CREATE UNIQUE INDEX "recuperacion_en_curso_key" ON "recuperacion"("comercio_id", "modo", "webhook") WHERE (estado = 'en_curso'::text);

-- ---- Files and proofs of delivery ----

-- Maps a file's public identifier to its merchant, for requests that name no merchant (signed links). The row is written
-- before the file, so that a crash leaves no unknown file in the storage.
CREATE TABLE "archivo_indice" (
    "archivo" TEXT NOT NULL,
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "estado" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archivo_indice_pkey" PRIMARY KEY ("archivo")
);
CREATE INDEX "archivo_indice_pendiente_idx" ON "archivo_indice"("creado_en") WHERE (estado <> 'listo'::text);

-- Stored file of a guide. The row is written after the bytes are stored.
CREATE TABLE "archivo" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "archivo" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "mime" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "ancho" INTEGER,
    "alto" INTEGER,
    "sha256" BYTEA NOT NULL,
    "capturado_en" TIMESTAMPTZ(3),
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "autor" TEXT,
    "usado_en" TIMESTAMPTZ(3),
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archivo_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","archivo")
);
CREATE INDEX "archivo_sin_usar_idx" ON "archivo"("creado_en") WHERE (usado_en IS NULL);

-- Proof of a delivery, committed with its event. pdf, manifiesto and sal are null until the job has made the PDF.
CREATE TABLE "prueba_entrega" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "recibido_por" JSONB NOT NULL,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "precision_m" DOUBLE PRECISION,
    "distancia_m" INTEGER,
    "distancia_avisada_m" INTEGER,
    "fotos" TEXT[],
    "firma" TEXT,
    "sin_firma" TEXT,
    "evidencia" JSONB NOT NULL,
    "pdf" TEXT,
    "manifiesto" TEXT,
    "sal" TEXT,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "entregado_en" TIMESTAMPTZ(3) NOT NULL,
    "registrado_en" TIMESTAMPTZ(3) NOT NULL,
    "rectificada_en" TIMESTAMPTZ(3),

    CONSTRAINT "prueba_entrega_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);
CREATE INDEX "prueba_entrega_sin_pdf_idx" ON "prueba_entrega"("proximo_en") WHERE (pdf IS NULL);
-- Deletion after the retention time.
CREATE INDEX "prueba_entrega_entregado_en_idx" ON "prueba_entrega"("entregado_en");
CREATE UNIQUE INDEX "prueba_entrega_id_comercio_id_key" ON "prueba_entrega"("id", "comercio_id");

-- Photos of a failed attempt, committed with its event. An attempt without photos has no row.
CREATE TABLE "prueba_intento" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "fotos" TEXT[],
    "registrado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prueba_intento_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);
-- Deletion after the retention time.
CREATE INDEX "prueba_intento_registrado_en_idx" ON "prueba_intento"("registrado_en");

-- Record of a deleted proof of delivery. A proof is deleted, row and files, after its retention time or at the request
-- of the person concerned.
CREATE TABLE "prueba_borrada" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "borrado_en" TIMESTAMPTZ(3) NOT NULL,
    "motivo" TEXT NOT NULL,

    CONSTRAINT "prueba_borrada_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);

-- Public key that signed manifests. Kept after its master key is removed, so that old proofs can always be verified.
CREATE TABLE "clave_publica" (
    "kid" TEXT NOT NULL,
    "jwk" JSONB NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "clave_publica_pkey" PRIMARY KEY ("kid")
);

-- ---- Audit record ----

-- Line of the audit record: a write or read of protected data that is no event of a guide. Append-only, enforced by
-- grants and by a trigger.
CREATE TABLE "bitacora" (
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
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),

    CONSTRAINT "bitacora_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "bitacora_linea_key" ON "bitacora"("linea");
CREATE INDEX "bitacora_xid_id_idx" ON "bitacora"("xid", "id");
CREATE INDEX "bitacora_comercio_id_id_idx" ON "bitacora"("comercio_id", "id");
CREATE INDEX "bitacora_quien_id_idx" ON "bitacora"("quien", "id");
CREATE INDEX "bitacora_sobre_id_idx" ON "bitacora"("sobre", "id");

-- Link of the audit chain: some lines of a record (bitacora or evento), in the order of their transactions, and a hash
-- that continues the previous link's (server/domain/bitacora/linkChain.ts). Append-only.
CREATE TABLE "eslabon" (
    "registro" TEXT NOT NULL,
    "numero" INTEGER NOT NULL,
    "xid" xid8 NOT NULL,
    "lineas" INTEGER NOT NULL,
    "claves" BYTEA NOT NULL,
    "huellas" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "eslabon_pkey" PRIMARY KEY ("registro","numero")
);
CREATE INDEX "eslabon_registro_creado_en_idx" ON "eslabon"("registro", "creado_en");

-- Seal of a day: a JWS over the last links of the day. Append-only.
CREATE TABLE "sello" (
    "dia" DATE NOT NULL,
    "jws" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sello_pkey" PRIMARY KEY ("dia")
);

-- ---- Parts of a distributed database ----

-- Part of a distributed database (server/data/citus): a range of hashes of merchants' ids. No other range ever gets the
-- same number.
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

-- Line of the audit record that waits in a part. The transaction of the change writes the line there, and a collector
-- moves it to bitacora (server/data/audit.ts).
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

    CONSTRAINT "bitacora_de_parte_pkey" PRIMARY KEY ("parte","id")
);

-- Maps keys to merchants on a distributed database, for requests that name no merchant. A key is a file, the digest of a
-- recipient's link, or a guide's code from before codes named their part (server/data/owners.ts).
CREATE TABLE "dueno" (
    "clave" TEXT NOT NULL,
    "comercio_id" UUID NOT NULL,

    CONSTRAINT "dueno_pkey" PRIMARY KEY ("clave")
);

-- ---- Processes that send webhooks ----

-- Process that sends webhooks, alive as long as it renews its row (server/domain/webhooks/sending/leases.ts).
CREATE TABLE "webhook_bomba" (
    "id" UUID NOT NULL,
    "latido_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_bomba_pkey" PRIMARY KEY ("id")
);

-- Lease of an endpoint, by its code, held by a process. It ends with the row of its process. "toma" is the number of the
-- claim of that process.
CREATE TABLE "webhook_arriendo" (
    "webhook" TEXT NOT NULL,
    "bomba" UUID NOT NULL,
    "toma" INTEGER NOT NULL,

    CONSTRAINT "webhook_arriendo_pkey" PRIMARY KEY ("webhook"),
    CONSTRAINT "webhook_arriendo_bomba_fkey" FOREIGN KEY ("bomba") REFERENCES "webhook_bomba"("id") ON DELETE CASCADE ON UPDATE NO ACTION
);
CREATE INDEX "webhook_arriendo_bomba_idx" ON "webhook_arriendo"("bomba");

-- ---- Append-only tables ----

-- The audit record is never changed, not even by the owner of the tables: rights stop users, triggers also superusers.
CREATE FUNCTION solo_se_agrega() RETURNS trigger LANGUAGE plpgsql AS $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
CREATE TRIGGER solo_se_agrega BEFORE UPDATE OR DELETE OR TRUNCATE ON bitacora
  FOR EACH STATEMENT EXECUTE FUNCTION solo_se_agrega();
CREATE TRIGGER solo_se_agrega BEFORE UPDATE OR DELETE OR TRUNCATE ON eslabon
  FOR EACH STATEMENT EXECUTE FUNCTION solo_se_agrega();
CREATE TRIGGER solo_se_agrega BEFORE UPDATE OR DELETE OR TRUNCATE ON sello
  FOR EACH STATEMENT EXECUTE FUNCTION solo_se_agrega();
REVOKE UPDATE, DELETE, TRUNCATE ON bitacora, eslabon, sello FROM PUBLIC, current_user;

-- ---- Rights and row-level security ----

-- Merchants whose rows a statement of guias_api sees. Without the setting there is an error, and no row.
CREATE FUNCTION comercios_del_ambito() RETURNS uuid[] STABLE PARALLEL SAFE LANGUAGE sql
  RETURN current_setting('guias.comercios')::uuid[];

-- Tables with rows of merchants. Policies repeat the conditions of the statements. Requests of merchants delete nothing.
DO $$
DECLARE
  tabla text;
BEGIN
  FOREACH tabla IN ARRAY ARRAY[
    'comercio', 'guia', 'guia_indice', 'busqueda', 'evento', 'mensaje', 'enlace_ubicacion', 'enlace_corto',
    'telefono_anterior', 'clave_idempotencia', 'webhook', 'webhook_secreto', 'webhook_aviso', 'webhook_intento',
    'recuperacion', 'archivo_indice', 'archivo', 'prueba_entrega', 'prueba_intento', 'prueba_borrada', 'dueno',
    'llave', 'bitacora', 'bitacora_de_parte'
  ] LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO guias_api', tabla);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO guias_operacion, guias_trabajos', tabla);
    EXECUTE format('GRANT SELECT ON %I TO guias_lectura', tabla);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tabla);
    EXECUTE format('CREATE POLICY de_sus_comercios ON %I TO guias_api USING ((%I = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE)',
      tabla, CASE tabla WHEN 'comercio' THEN 'id' ELSE 'comercio_id' END);
    EXECUTE format('CREATE POLICY de_todos ON %I TO guias_operacion, guias_trabajos USING (true)', tabla);
    EXECUTE format('CREATE POLICY de_lectura ON %I FOR SELECT TO guias_lectura USING (true)', tabla);
  END LOOP;

  -- Rows of merchants that merchants do not read.
  FOREACH tabla IN ARRAY ARRAY['nota', 'asignacion'] LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO guias_operacion, guias_trabajos', tabla);
    EXECUTE format('GRANT SELECT ON %I TO guias_lectura', tabla);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tabla);
    EXECUTE format('CREATE POLICY de_todos ON %I TO guias_operacion, guias_trabajos USING (true)', tabla);
    EXECUTE format('CREATE POLICY de_lectura ON %I FOR SELECT TO guias_lectura USING (true)', tabla);
  END LOOP;
END $$;

-- Exceptions: keys and secrets are not for everybody, a merchant may drop an expired secret, and records stay as written.
REVOKE ALL ON llave FROM guias_api, guias_lectura;
REVOKE ALL ON webhook_secreto FROM guias_lectura;
GRANT DELETE ON webhook_secreto TO guias_api;
REVOKE UPDATE, DELETE ON bitacora FROM guias_api, guias_operacion, guias_trabajos;
REVOKE UPDATE ON bitacora_de_parte FROM guias_api, guias_operacion, guias_trabajos;

-- Tables without rows of merchants.
GRANT SELECT, INSERT, UPDATE, DELETE ON
  operador, repartidor, sesion_repartidor, persona, membresia, invitacion, codigo_de_entrada, sesion_persona, aprobacion,
  passkey, reto_de_passkey, segundo_factor, codigo_de_recuperacion, entrada_a_medias, cambio_de_correo, correo,
  busqueda_avance, entrante, clave_publica, webhook_bomba, webhook_arriendo
  TO guias_operacion, guias_trabajos;
GRANT SELECT, INSERT, UPDATE ON olvido TO guias_operacion, guias_trabajos;
GRANT SELECT, INSERT ON eslabon, sello TO guias_operacion, guias_trabajos;
GRANT SELECT ON parte TO guias_operacion, guias_trabajos;
GRANT SELECT ON clave_publica TO guias_api;
-- Persons, couriers and their sessions are not for readers.
GRANT SELECT ON
  operador, busqueda_avance, olvido, entrante, clave_publica, eslabon, sello, parte, webhook_bomba, webhook_arriendo
  TO guias_lectura;

-- ---- Order of events ----

-- Snapshot that the feed sees, transaction below which the feed may be served, and its end. The schema of a part of a
-- distributed database has other functions of these names (server/data/citus/laying.ts).
CREATE FUNCTION flujo_ahora() RETURNS pg_snapshot STABLE PARALLEL SAFE LANGUAGE sql RETURN pg_current_snapshot();
CREATE FUNCTION flujo_hasta() RETURNS xid8 STABLE PARALLEL SAFE LANGUAGE sql RETURN pg_snapshot_xmin(pg_current_snapshot());
CREATE FUNCTION flujo_fin() RETURNS xid8 STABLE PARALLEL SAFE LANGUAGE sql RETURN pg_snapshot_xmax(pg_current_snapshot());
-- Server and timeline in which the order of events was last continued (server/data/order.ts); null until the first start.
-- A start on another server knows that the last transactions may be missing.
CREATE FUNCTION flujo_servidor() RETURNS text STABLE PARALLEL SAFE LANGUAGE sql RETURN null::text;
