-- Roles, and row-level security as a second wall behind each statement's own conditions (server/ambito.ts). The owner of
-- the tables migrates; nothing else is done as him. Roles belong to the whole server: another database may have made them.
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

-- Whose rows a merchant's statements see: an array of the ids of merchants. Without it, there is an error and nothing else.
CREATE FUNCTION comercios_del_ambito() RETURNS uuid[] STABLE PARALLEL SAFE LANGUAGE sql
  RETURN current_setting('guias.comercios')::uuid[];

DO $$
DECLARE
  tabla record;
BEGIN
  FOR tabla IN
    SELECT c.oid::regclass AS nombre, CASE c.relname WHEN 'comercio' THEN 'id' ELSE 'comercio_id' END AS columna,
      EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'comercio_id' AND NOT a.attisdropped)
        OR c.relname = 'comercio' AS de_comercio
    FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO guias_operacion, guias_trabajos', tabla.nombre);
    EXECUTE format('GRANT SELECT ON %s TO guias_lectura', tabla.nombre);
    CONTINUE WHEN NOT tabla.de_comercio;
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %s TO guias_api', tabla.nombre);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tabla.nombre);
    EXECUTE format('CREATE POLICY de_sus_comercios ON %s TO guias_api USING ((%I = ANY ((SELECT comercios_del_ambito())::uuid[])) IS TRUE)',
      tabla.nombre, tabla.columna);
    EXECUTE format('CREATE POLICY de_todos ON %s TO guias_operacion, guias_trabajos USING (true)', tabla.nombre);
    EXECUTE format('CREATE POLICY de_lectura ON %s FOR SELECT TO guias_lectura USING (true)', tabla.nombre);
  END LOOP;
END $$;

-- What a merchant's statements need of what is nobody's, and what neither they nor whoever only reads needs of the rest.
GRANT SELECT ON clave_publica TO guias_api;
GRANT DELETE ON webhook_secreto TO guias_api;
REVOKE ALL ON llave FROM guias_api, guias_lectura;
-- What is recorded stays as it was.
REVOKE UPDATE, DELETE ON bitacora, eslabon, sello FROM guias_api, guias_operacion, guias_trabajos;
REVOKE ALL ON sesion_repartidor, repartidor, webhook_secreto FROM guias_lectura;

-- The one thing that a merchant's statement counts over everybody's rows: what a telephone was asked for since an instant.
CREATE FUNCTION solicitudes_al_telefono(text, text, timestamptz) RETURNS int STABLE SECURITY DEFINER LANGUAGE sql
  RETURN (SELECT count(*)::int FROM mensaje WHERE telefono = $1 AND modo = $2 AND creado_en > $3
    AND tipo = 'solicitud_ubicacion' AND estado <> 'descartado');
REVOKE ALL ON FUNCTION solicitudes_al_telefono FROM PUBLIC;
GRANT EXECUTE ON FUNCTION solicitudes_al_telefono TO guias_api, guias_operacion, guias_trabajos;
