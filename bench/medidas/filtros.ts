import { abrirEnchufe } from '../arnes/carga.ts'
import { ESTADOS_RAROS, sembrar } from '../arnes/datos.ts'
import type { Banco, ComercioDeBench } from '../arnes/entorno.ts'
import { miles } from '../arnes/numero.ts'
import { fila } from './crear.ts'
import { leer, PAGINA } from './leer.ts'
import type { Medida } from './medida.ts'

/** Page reads per second of the option `--segundos`, of each filter and round. */
const LECTURAS_POR_SEGUNDO = 50
/** Number of the oldest guides, which alone have rare metadata. */
const VIEJAS = 20

/** Query strings of the first pages, by name. The first one is the reference. */
const consultas = (guias: number): Record<string, string> => {
  const raros = ESTADOS_RAROS.map((estado) => `&estado=${estado}`).join('')
  return {
    'sin filtro': '',
    'un teléfono': `&telefono=%2B502${50_000_000 + ((Math.floor(guias / 2) * 7_919) % 9_000_000)}`,
    'un teléfono sin guías': '&telefono=%2B50259999999',
    'metadatos que casi todas tienen': '&metadatos%5Bcanal%5D=web',
    [`metadatos de las ${VIEJAS} más viejas`]: '&metadatos%5Bcanal%5D=raro',
    'metadatos que ninguna tiene': '&metadatos%5Bcanal%5D=nada',
    '5 metadatos que ninguna tiene': [1, 2, 3, 4, 5].map((i) => `&metadatos%5Bk${i}%5D=nada`).join(''),
    'ubicación que todas tienen': '&ubicacion=confirmada',
    'ubicación que ninguna tiene': '&ubicacion=fallida',
    'actualizado_desde el comienzo': '&actualizado_desde=2020-01-01T00:00:00Z',
    'actualizado_desde después de todas': '&actualizado_desde=2099-01-01T00:00:00Z',
    'dos estados raros y metadatos que ninguna tiene': `${raros}&metadatos%5Bcanal%5D=nada`,
    'un estado común y metadatos que ninguna tiene': '&estado=aceptado&metadatos%5Bcanal%5D=nada',
  }
}

const p95 = (tiempos: readonly number[]) => tiempos.toSorted((a, b) => a - b)[Math.ceil(tiempos.length * 0.95) - 1]!

const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const { rondas, segundos, guias } = banco.opciones
    const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
    const metadatos = `jsonb_build_object('canal', case when n <= ${VIEJAS} then 'raro' else 'web' end, 'pedido', n::text)`
    await sembrar(base.url, { comercio, hasta: guias, metadatos })
    const pedidas = Object.entries(consultas(guias))
    const { url } = await base.servicio()
    const enchufe = abrirEnchufe(url)
    // Filters alternate page by page, so that a slow moment of the machine affects all of them.
    const ronda = async (vueltas: number) => {
      const tiempos = pedidas.map(() => [] as number[])
      for (let vuelta = 0; vuelta < vueltas; vuelta++)
        for (const [i, [, consulta]] of pedidas.entries())
          tiempos[i]!.push(await leer(enchufe, comercio.llave, `/api/v1/guias?limite=${PAGINA}${consulta}`))
      return tiempos.map(p95)
    }
    await ronda(20)
    const vistas: number[][] = []
    for (let n = 0; n < rondas; n++) vistas.push(await ronda(segundos * LECTURAS_POR_SEGUNDO))
    enchufe.cerrar()
    const de = (i: number) => vistas.map((una) => una[i]!)
    return {
      filas: pedidas.map(([nombre], i) =>
        i === 0
          ? fila(`p95 de la primera página de ${PAGINA} de ${miles(guias)} guías, ${nombre}`, 'ms', '', {
              programa: de(0),
              referencia: [],
            })
          : fila(nombre, 'ms', 'sin filtro', { programa: de(i), referencia: de(0) }, { sentido: '≤', valor: 3 }),
      ),
    }
  })

export const filtros: Medida = {
  clave: 'filtros',
  descripcion: 'primera página con cada filtro de la tabla grande, contra la misma sin filtro (p95)',
  medir,
}
