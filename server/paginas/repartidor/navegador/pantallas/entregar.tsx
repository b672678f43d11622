import { useEffect, useRef, useState } from 'preact/hooks'
import { enGrupos } from '../../../../codigos/codigoDeGuia.ts'
import { encolar, imagen as leerImagen } from '../almacen/acciones.ts'
import { type Borrador, type Imagen, type Sesion, sinEspacio } from '../almacen/base.ts'
import { borradorDe, guardarBorrador, tirarBorrador } from '../almacen/borradores.ts'
import { guiaDe } from '../almacen/guias.ts'
import { RELACIONES, type Relacion } from '../dominio.ts'
import { conFalla, Falla, useFallas } from '../fallas.tsx'
import { Firma, firmaComoPng } from '../firma.tsx'
import { ir, type Posicion, useDatos, usePosicion } from '../hooks.ts'
import { explicarFoto, Fotos, useFotos } from './fotos.tsx'
import { SIN_ESPACIO } from './paso.tsx'
import { horaDe, Pregunta, Titulo, Volver } from './piezas.tsx'

const IMPRECISA_M = 100

export function Entregar({ sesion, guia }: { sesion: Sesion; guia: string }) {
  const [borrador, poner] = useState<Borrador>()
  useEffect(() => {
    let vivo = true
    borradorDe(guia).then((previo) => {
      if (vivo) poner(previo?.repartidor === sesion.repartidor ? previo : nuevoBorrador(sesion, guia))
    })
    return () => {
      vivo = false
    }
  }, [guia, sesion.repartidor])
  return borrador ? <Formulario sesion={sesion} inicial={borrador} /> : null
}

const nuevoBorrador = ({ repartidor }: Sesion, guia: string): Borrador => ({
  guia,
  repartidor,
  fotos: [],
  trazos: null,
  nombre: '',
  documento: '',
  relacion: '',
  descripcion: '',
  ocurrido_en: null,
  zona: null,
  lugar: null,
})

function Formulario({ sesion, inicial }: { sesion: Sesion; inicial: Borrador }) {
  const { guia } = inicial
  const [borrador, poner] = useState(inicial)
  const actual = useRef(inicial)
  const [fallas, fallar] = useFallas<'fotos' | 'nombre' | 'todo'>()
  const [preguntando, preguntar] = useState(false)
  const guardando = useRef(false)
  const posicion = usePosicion(true)
  const destinatario = useDatos(async () => (await guiaDe(sesion.repartidor, guia))?.datos?.destinatario ?? null, guia)

  const decirFalla = (error: unknown) =>
    fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'El teléfono no pudo guardarlo. Pruebe otra vez.' })
  const escribiendo = useRef<Promise<void>>(null)
  const sucio = useRef(false)
  /** Shown at once, and on the phone as fast as it writes: while one write lasts, later ones become one. */
  const cambiar = (cambio: Partial<Borrador>) => {
    actual.current = { ...actual.current, ...cambio }
    poner(actual.current)
    sucio.current = true
    escribiendo.current ??= (async () => {
      while (sucio.current) {
        sucio.current = false
        await guardarBorrador(actual.current).catch(decirFalla)
      }
      escribiendo.current = null
    })()
  }
  /** A photo is on the phone before it is on the screen. */
  const agregar = async (nueva: Imagen) => {
    const fotos = [...actual.current.fotos, nueva.id]
    await guardarBorrador({ ...actual.current, fotos }, nueva)
    actual.current = { ...actual.current, fotos }
    poner(actual.current)
  }
  const quitar = async (id: string) => {
    const fotos = actual.current.fotos.filter((otra) => otra !== id)
    actual.current = { ...actual.current, fotos }
    poner(actual.current)
    await guardarBorrador(actual.current, undefined, id).catch(decirFalla)
  }
  const { preparando, tomar } = useFotos({
    guia,
    cuantas: () => actual.current.fotos.length,
    agregar,
    fallar: (causa) => {
      const dicho = explicarFoto(causa)
      if (causa === undefined) fallar({})
      else if (dicho) fallar({ fotos: dicho })
      else decirFalla(causa)
    },
  })
  const confirmar = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const ahora = Date.now()
    const lista = actual.current
    const faltan = {
      ...(lista.fotos.length === 0 ? { fotos: 'Tome una foto por lo menos.' } : {}),
      ...(lista.nombre.trim() === '' ? { nombre: 'Escriba quién recibió.' } : {}),
    }
    fallar(faltan)
    if (Object.keys(faltan).length > 0 || guardando.current) return
    guardando.current = true
    try {
      // Or else a late write would bring back what is done with.
      await escribiendo.current
      await guardar(sesion, lista, posicion, ahora)
      ir(`guia/${guia}/hecho/entregado`, true)
    } catch (error) {
      guardando.current = false
      fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'El teléfono no pudo guardar la entrega. Pruebe otra vez.' })
    }
  }
  const texto = (campo: 'nombre' | 'documento' | 'descripcion') => ({
    value: borrador[campo],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => cambiar({ [campo]: currentTarget.value }),
  })
  return (
    <form onSubmit={confirmar} noValidate>
      <Volver a={`guia/${guia}`}>
        <span class="codigo">{enGrupos(guia)}</span>
      </Volver>
      <Titulo>Entregar</Titulo>
      {borrador.ocurrido_en && (
        <p class="nota">Corrige la entrega de las {horaDe(borrador.ocurrido_en, borrador.zona)}.</p>
      )}

      <Fotos
        de="1 a 10"
        fotos={borrador.fotos.map((id) => ({ id, leer: async () => (await leerImagen(id))?.blob }))}
        preparando={preparando}
        tomar={tomar}
        quitar={quitar}
        falla={fallas.fotos}
      />

      <fieldset>
        <legend>Quién recibe</legend>
        <p class="nota">{document.getElementById('app')!.dataset.privacidad}</p>
        {destinatario && borrador.nombre !== destinatario && (
          <button type="button" onClick={() => cambiar({ nombre: destinatario, relacion: 'destinatario' })}>
            {destinatario}
          </button>
        )}
        <label for="nombre">Nombre</label>
        <input
          id="nombre"
          type="text"
          autocomplete="off"
          autocapitalize="words"
          maxLength={120}
          {...conFalla('nombre', fallas.nombre)}
          {...texto('nombre')}
        />
        <Falla de="nombre">{fallas.nombre}</Falla>
        <label for="relacion">Quién es</label>
        <select
          id="relacion"
          value={borrador.relacion}
          onChange={({ currentTarget }) => cambiar({ relacion: currentTarget.value })}
        >
          <option value="">Sin decir</option>
          {Object.entries(RELACIONES).map(([valor, dicho]) => (
            <option key={valor} value={valor}>
              {dicho}
            </option>
          ))}
        </select>
        <label for="documento">Documento (si lo mostró)</label>
        <input id="documento" type="text" autocomplete="off" maxLength={40} {...texto('documento')} />
      </fieldset>

      <fieldset>
        <legend>
          Firma <small>(si puede)</small>
        </legend>
        <Firma trazos={borrador.trazos} alFirmar={(trazos) => cambiar({ trazos })} />
      </fieldset>

      <label for="descripcion">Nota (si hace falta)</label>
      <input id="descripcion" type="text" autocomplete="off" maxLength={300} {...texto('descripcion')} />
      {!borrador.ocurrido_en && <Lugar posicion={posicion} />}
      <button type="button" class="discreto" onClick={() => preguntar(true)}>
        Descartar
      </button>
      <div class="barra">
        <Falla de="todo">{fallas.todo}</Falla>
        <button type="submit" class="principal" aria-disabled={preparando > 0 || undefined}>
          Confirmar la entrega
        </button>
      </div>
      {preguntando && (
        <Pregunta
          titulo="¿Borrar lo que llenó, con sus fotos?"
          si="Borrar"
          no="Seguir llenando"
          alDecidir={async (si) => {
            preguntar(false)
            if (!si) return
            await escribiendo.current
            await tirarBorrador(guia)
            ir(`guia/${guia}`, true)
          }}
        />
      )}
    </form>
  )
}

async function guardar(sesion: Sesion, borrador: Borrador, { punto }: Posicion, ahora: number) {
  const { guia, fotos, trazos, nombre, documento, relacion, descripcion, ocurrido_en, lugar } = borrador
  const png = trazos ? await firmaComoPng(trazos) : undefined
  const firma = png && { id: crypto.randomUUID(), guia, blob: png }
  const opcional = <C extends string>(campo: C, valor: string) =>
    (valor.trim() ? { [campo]: valor.trim() } : {}) as Partial<Record<C, string>>
  await encolar(
    [
      {
        repartidor: sesion.repartidor,
        nombre: sesion.nombre,
        guia,
        estado: 'entregado',
        entrega: {
          recibido_por: {
            nombre: nombre.trim(),
            ...opcional('documento', documento),
            ...(relacion ? { relacion: relacion as Relacion } : {}),
          },
          // Where it happened, which is no longer here when it is corrected later.
          ...((ocurrido_en ? lugar : punto) ?? {}),
          ...opcional('descripcion', descripcion),
        },
        fotos: fotos.map((imagen) => ({ imagen })),
        firma: firma ? { imagen: firma.id } : null,
        trazos: firma ? trazos : null,
      },
    ],
    ahora,
    ocurrido_en,
    firma ? [firma] : [],
  )
}

function Lugar({ posicion: { estado, punto } }: { posicion: Posicion }) {
  const textos = {
    buscando: 'Buscando dónde está…',
    denegada: 'Sin permiso para ver dónde está: la entrega vale igual, sin el lugar.',
    sin: 'El teléfono no encuentra dónde está: la entrega vale igual, sin el lugar.',
    lista: punto
      ? `Lugar anotado, con precisión de unos ${Math.round(punto.precision_m)} m.${punto.precision_m > IMPRECISA_M ? ' Es poco exacto: si puede, salga a un lugar abierto.' : ''}`
      : '',
  }
  return (
    <p class={estado === 'lista' ? 'lugar listo' : 'lugar'} role="status">
      {textos[estado]}
    </p>
  )
}
