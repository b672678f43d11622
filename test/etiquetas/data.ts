import fc from 'fast-check'
import type { EtiquetaData } from '../../server/domain/etiquetas/label.ts'

/** Brand without a logo. */
export const BRAND_WITHOUT_LOGO = { nombre: 'Envíos del Altiplano', color: '#0b6b3a', logo: null }

/** Data of a label, with changes. */
export const datos = (cambios: Partial<EtiquetaData> = {}): EtiquetaData => ({
  comercio: 'Zapatería El Caminante, S. A.',
  modo: 'live',
  guia: '7K3M9QX2A1B4',
  external_ref: 'PEDIDO-2026-00005',
  creado_en: '2026-11-12T15:12:00.000Z',
  url_rastreo: 'https://guias.example.gt/rastreo/7K3M9QX2A1B4',
  recogida: {
    nombre: 'Bodega Zona 12',
    lat: 14.583611,
    lng: -90.548611,
    direccion: '12 avenida 3-40, bodega 7',
    contacto: 'Luis Batz',
    telefono: '+50255551234',
    indicaciones: 'Portón azul,\ntocar el timbre',
  },
  destinatario: {
    nombre: 'María José Ajú',
    telefono: '+50231481676',
    departamento: 'Sacatepéquez',
    municipio: 'Antigua Guatemala',
    direccion: '5a avenida norte 12, casa 3',
    indicaciones: 'Portón verde,\nfrente a la tienda',
  },
  contenido: '2 pares de zapatos',
  ...cambios,
})

type TextGenerator = (maxLength: number) => fc.Arbitrary<string>
/** Texts in Latin letters, up to a length. */
export const latinText: TextGenerator = (maxLength) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...'aeiouñáéíMWilrst 0123-,.'), maxLength }),
    fc.constantFrom('', ' ', 'W'.repeat(maxLength)),
  )
/** Texts of any characters, up to a length. */
export const oddText: TextGenerator = (maxLength) =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength }),
    fc.string({ unit: 'grapheme', maxLength }),
    fc.string({ unit: fc.constantFrom('W', 'ñ', ' ', '字', 'ب', 'ש', '👩‍🚀', '\u0301', '\u200f', '\n'), maxLength }),
  )
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const degrees = fc.double({ min: -180, max: 180, noNaN: true })
/** Data of any label, with texts of one kind. */
export const anyLabel = (text: TextGenerator): fc.Arbitrary<EtiquetaData> =>
  fc.record({
    comercio: text(120),
    modo: fc.constantFrom('live', 'test'),
    guia: fc.oneof(fc.constant('7K3M9QX2A1B4'), text(64)),
    external_ref: orNull(text(128)),
    creado_en: fc.oneof(fc.constant('2026-11-12T15:12:00.000Z'), text(20)),
    url_rastreo: fc.oneof(fc.webUrl(), text(3000)),
    recogida: fc.record({
      nombre: orNull(text(120)),
      lat: orNull(degrees),
      lng: orNull(degrees),
      direccion: orNull(text(300)),
      contacto: orNull(text(120)),
      telefono: orNull(text(16)),
      indicaciones: orNull(text(500)),
    }),
    destinatario: fc.record({
      nombre: orNull(text(120)),
      telefono: text(40),
      departamento: text(100),
      municipio: text(100),
      direccion: orNull(text(300)),
      indicaciones: orNull(text(500)),
    }),
    contenido: orNull(text(300)),
  })
