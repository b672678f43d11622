import { randomUUID } from 'node:crypto'
import { abrirEnchufe, cargar, type Peticion } from '../arnes/carga.ts'
import { guiasAlAzar, sembrar } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import { formatearNumero } from '../arnes/numero.ts'
import { crearPersonas, crearRepartidores } from '../arnes/personas.ts'
import { resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'

/** People of the office. Each opens a guide's page every two seconds, and another page every five. */
const OFICINA = 20
const GUIAS_POR_SEGUNDO = 0.5
const OTRAS_POR_SEGUNDO = 0.2
const OTRAS = ['/central', '/central/guias', '/central/guias?estado=recolectado', '/central/reparto']

/** Couriers with this many guides each. Each makes a request every five seconds: it reads its guides or reports one. */
const REPARTIDORES = 200
const GUIAS_DE_CADA_UNO = 20
const SOLICITUDES_POR_SEGUNDO = 0.2

/** Connections that create guides, and guides per second of each. */
const CREADORES = 20
const CREADAS_POR_SEGUNDO = 5

/** Bound on the p95 of a guide's page, in milliseconds. */
const MARCA = { sentido: '≤' as const, valor: 200, absoluta: true as const }

/** Phone of a courier. `quedan` are the guides that it has not yet taken on its route. */
interface Telefono {
  cabeceras: Record<string, string>
  quedan: string[]
}

const reportar = ({ cabeceras }: Telefono, guias: readonly string[], estado: string): Peticion => ({
  metodo: 'POST',
  ruta: '/repartidor/v1/eventos',
  cabeceras,
  cuerpo: JSON.stringify({ eventos: guias.map((guia) => ({ guia, evento: { estado, idempotencia: randomUUID() } })) }),
})

/** Creates couriers, who have collected their guides. */
async function recolectar(base: Base, { url }: Programa): Promise<Telefono[]> {
  const guias = await guiasAlAzar(base.db, REPARTIDORES * GUIAS_DE_CADA_UNO)
  const telefonos = (await crearRepartidores(base, REPARTIDORES)).map((Cookie, i) => ({
    cabeceras: { Cookie, 'Sec-Fetch-Site': 'same-origin' },
    quedan: guias.slice(i * GUIAS_DE_CADA_UNO, (i + 1) * GUIAS_DE_CADA_UNO),
  }))
  const enchufe = abrirEnchufe(url)
  for (const telefono of telefonos) {
    const { status, cuerpo } = await enchufe.pedir(reportar(telefono, telefono.quedan, 'recolectado'))
    if (status !== 200) throw new Error(`${status} ${cuerpo().slice(0, 1_000)}`)
    // A few guides of the seed are in a final state.
    const { resultados } = JSON.parse(cuerpo()) as { resultados: { ok: boolean }[] }
    telefono.quedan = telefono.quedan.filter((_guia, i) => resultados[i]!.ok)
  }
  enchufe.cerrar()
  return telefonos
}

/** Next request of a courier: it reports a guide that is left, or reads its guides. */
function deRepartidor(telefono: Telefono): Peticion {
  const guia = Math.random() < 0.5 ? telefono.quedan.pop() : undefined
  return guia
    ? reportar(telefono, [guia], 'en_ruta')
    : { metodo: 'GET', ruta: '/repartidor/v1/guias', cabeceras: telefono.cabeceras }
}

/** Measures a guide's page while the office and the couriers work and merchants create guides. */
const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const { rondas, segundos, guias } = banco.opciones
    const comercios = await base.crearComercios(CREADORES)
    const [comercio] = comercios as [ComercioDeBench]
    await sembrar(base.url, { comercio, hasta: guias, eventos: 1 })
    const programa = await base.servicio()
    const { url } = programa
    const telefonos = await recolectar(base, programa)
    const oficina = await crearPersonas(base, OFICINA)
    const vistas = telefonos.flatMap(({ quedan }) => quedan)
    const creando = { ...cargaDeCrear(url, comercios, CREADORES, segundos), ritmo: CREADAS_POR_SEGUNDO }
    await calentar(banco, base, creando)
    const alAzar = <T>(unos: readonly T[]) => unos[Math.floor(Math.random() * unos.length)]!
    const pagina = (ritmo: number, ruta: () => string) =>
      cargar({
        ...{ url, segundos, ritmo, conexiones: OFICINA, espera: 200 },
        siguiente: (i) => ({ metodo: 'GET', ruta: ruta(), cabeceras: { Cookie: oficina[i]! } }),
      })
    const ronda = async () => {
      const [deGuia, otras, reparto, creacion] = await Promise.all([
        pagina(GUIAS_POR_SEGUNDO, () => `/central/guias/${alAzar(vistas)}`),
        pagina(OTRAS_POR_SEGUNDO, () => alAzar(OTRAS)),
        cargar({
          ...{ url, segundos, ritmo: SOLICITUDES_POR_SEGUNDO, conexiones: REPARTIDORES, espera: 200 },
          siguiente: (i) => deRepartidor(telefonos[i]!),
        }),
        cargar(creando),
      ])
      return { deGuia, otras, reparto, creacion }
    }
    await ronda()
    const medidas: Awaited<ReturnType<typeof ronda>>[] = []
    for (let n = 0; n < rondas; n++) medidas.push(await ronda())
    const de = (cual: keyof (typeof medidas)[number], valor: 'p50' | 'p95' | 'porSegundo') =>
      medidas.map((una) => una[cual][valor])
    const nota = (nombre: string, cual: keyof (typeof medidas)[number]) =>
      `${nombre}: ${formatearNumero(resumir(de(cual, 'porSegundo')).mediana)} por segundo, p50 ${formatearNumero(resumir(de(cual, 'p50')).mediana)} ms, p95 ${formatearNumero(resumir(de(cual, 'p95')).mediana)} ms`
    const row = fila(
      `p95 de la página de una guía: ${OFICINA} en la oficina, ${REPARTIDORES} repartidores y ${CREADORES * CREADAS_POR_SEGUNDO} creaciones/s`,
      'ms',
      '',
      { programa: de('deGuia', 'p95'), referencia: [] },
      MARCA,
    )
    return {
      filas: [row],
      notas: [
        nota('páginas de guías', 'deGuia'),
        nota('otras páginas de la oficina', 'otras'),
        nota('solicitudes de repartidores', 'reparto'),
        nota('creaciones', 'creacion'),
      ],
    }
  })

export const central: Medida[] = [
  {
    clave: 'central',
    descripcion: 'la página de una guía, junto a la oficina, los repartidores y las creaciones',
    aparte: () => true,
    medir,
  },
]
