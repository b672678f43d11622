import { antesDe, sembrar, sembrarEntregasHechas } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench } from '../arnes/entorno.ts'
import { miles } from '../arnes/numero.ts'
import { intercalar } from '../arnes/rondas.ts'
import { fila } from './crear.ts'
import { comparar, EVENTOS, type Lado, rutasDe } from './crecer.ts'
import type { Medida } from './medida.ts'
import { levantarLado } from './webhooks.ts'

const GUIAS = 300_000
const PARTES = 12
const WEBHOOKS = 3_000

/**
 * Replaces an empty table with a partitioned one that has the same indexes. The partition key is the guide's id, a
 * UUIDv7 of its creation time. The new table has no row-level security policies.
 */
const partir = ({ db }: Base, tabla: string, cortes: readonly string[]) =>
  db.pool.query(`do $$
    declare
      entera text := '${tabla}_entera';
      indice text;
      cortes uuid[] := array['${cortes.join("','")}']::uuid[];
    begin
      alter table ${tabla} rename to ${tabla}_entera;
      create table ${tabla} (like ${tabla}_entera including defaults) partition by range (guia_id);
      grant select, insert, update, delete on ${tabla} to guias_api, guias_operacion, guias_trabajos, guias_lectura;
      for indice in select pg_get_indexdef(indexrelid) from pg_index where indrelid = entera::regclass loop
        execute regexp_replace(regexp_replace(indice, 'INDEX \\S+ ON', 'INDEX ON'), entera, '${tabla}');
      end loop;
      drop table ${tabla}_entera;
      for i in 0..cardinality(cortes) loop
        execute format('create table ${tabla}_%s partition of ${tabla} for values from (%s) to (%s)', i,
          coalesce(quote_literal(cortes[i]), 'minvalue'), coalesce(quote_literal(cortes[i + 1]), 'maxvalue'));
      end loop;
    end $$`)

const TABLAS = ['evento', 'webhook_entrega', 'webhook_intento']

/** Starts a service over {@link GUIAS} guides, in whole or in partitioned tables. */
async function abrir(base: Base, enPartes: boolean): Promise<Lado> {
  const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
  const cortes = Array.from({ length: PARTES }, (_, i) => antesDe(1 + Math.floor((i * GUIAS) / PARTES)))
  if (enPartes) for (const tabla of TABLAS) await partir(base, tabla, cortes)
  await sembrar(base.url, { comercio, hasta: GUIAS, eventos: EVENTOS })
  const webhook = await sembrarEntregasHechas(base.url, comercio, GUIAS)
  // No server listens at this endpoint, so new events must not create deliveries for it.
  await base.db.pool.query(`update webhook set estado = 'deshabilitado' where webhook = $1`, [webhook])
  const rutas = {
    ...(await rutasDe(base, GUIAS)),
    'página de 50 entregas de un webhook': [`/api/v1/webhooks/${webhook}/avisos?limite=50`],
  }
  return { base, comercio, rutas, programa: await base.servicio() }
}

const particiones = (banco: Banco) =>
  banco.conBase((unBase) =>
    banco.conBase(async (otraBase) => {
      const [entera, partida] = [await abrir(unBase, false), await abrir(otraBase, true)]
      const palabras = { de: `en ${PARTES + 1} partes`, referencia: 'enteras' }
      const filas = await comparar(banco, [entera, partida], palabras)
      const lados: Awaited<ReturnType<typeof levantarLado>>[] = []
      for (const { base } of [entera, partida]) lados.push(await levantarLado(banco, base, WEBHOOKS))
      const valores = await intercalar(banco.opciones.rondas, {
        programa: () => lados[1]!.medir(WEBHOOKS),
        referencia: () => lados[0]!.medir(WEBHOOKS),
      })
      const nombre = `${miles(WEBHOOKS)} webhooks en cola, ${palabras.de}`
      filas.push(fila(nombre, 'por s', palabras.referencia, valores))
      return { filas, notas: lados.map((lado, i) => `${i === 0 ? 'enteras' : 'en partes'}: ${lado.nota()}`) }
    }),
  )

export const medidasDeParticiones: Medida[] = [
  {
    clave: 'particiones',
    descripcion:
      'lo mismo con eventos, entregas e intentos partidos por el tiempo de su guía, contra las tablas enteras',
    aparte: () => true,
    medir: particiones,
  },
]
