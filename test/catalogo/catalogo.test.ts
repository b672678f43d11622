import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COUNTRY_TABLES } from '../../scripts/catalogo/tables.ts'
import {
  centreOf,
  departamentos,
  findDepartamentos,
  findDestino,
  municipiosOf,
  similarDepartamentos,
} from '../../server/domain/catalogo/catalogo.ts'
import { nearestNames } from '../../server/domain/catalogo/similarNames.ts'
import { distanceKm } from '../../server/platform/maps/point.ts'
import { lote100 } from '../factories.ts'

/** The code that a destination has, or its suggestions. */
function read(departamento: string, municipio: string) {
  const read = findDestino(departamento, municipio)
  return 'suggest' in read ? read.suggest() : read.municipio.codigo
}
const nameOf = (departamento: string, municipio: string) => {
  const read = findDestino(departamento, municipio)
  return 'suggest' in read ? read.suggest() : `${read.departamento.codigo} ${read.municipio.nombre}`
}

describe('the hundred real destinations', () => {
  it.each(lote100().guias.map(({ departamento, municipio }) => [departamento, municipio] as const))(
    '%s, %s',
    (departamento, municipio) => {
      const read = findDestino(departamento, municipio)
      if ('suggest' in read) return expect(read.suggest()).toBe('found')
      expect([read.departamento.nombre, read.departamento.pais]).toEqual([departamento, 'GT'])
      const guia = lote100().guias.find((g) => g.departamento === departamento && g.municipio === municipio)!
      // The real ones say where they are: the catalogue must agree.
      if (guia.lat !== undefined) {
        expect(distanceKm(read.municipio, { lat: guia.lat, lng: guia.lng! })).toBeLessThan(5)
      }
    },
  )
})

describe('a municipality that is only a zone or the capital', () => {
  it.each([
    ['Guatemala', 'zona 10', ['Guatemala']],
    ['Guatemala', 'Z.10', ['Guatemala']],
    ['Guatemala', 'Zona10', ['Guatemala']],
    ['Guatemala', 'Capital', ['Guatemala']],
    ['Guatemala', 'Ciudad Capital', ['Guatemala']],
    ['Guatemala', 'Zona 4 Mixco', ['Mixco']],
    ['Quetzaltenango', 'zona 3', ['Quetzaltenango']],
    // Some municipalities of El Salvador and Honduras have no place of their own, but that of the capital.
    ['San Salvador', 'la capital', ['San Salvador']],
    ['Francisco Morazán', 'Capital', ['Distrito Central']],
    ['Nadie sabe', 'zona 10', []],
  ])('suggests the one that %s, %s means', (departamento, municipio, municipios) =>
    expect(read(departamento, municipio)).toEqual({ departamentos: [], municipios }),
  )
})

describe('spellings', () => {
  it.each([
    // Accents, case, spaces, punctuation
    ['GUATEMALA', 'MIXCO', 'GT-GU-0108'],
    ['guatemala', '  mixco  ', 'GT-GU-0108'],
    ['Guatemala', 'San  Juan   Sacatepequez', 'GT-GU-0110'],
    ['Guatemala', 'SanJuan Sacatepéquez', 'GT-GU-0110'],
    ['Guatemala', 'san juan sacatepe\u0301quez', 'GT-GU-0110'],
    ['sacatepequez', 'antigua guatemala', 'GT-SA-0301'],
    ['Sacatepéquez.', 'Antigua Guatemala.', 'GT-SA-0301'],
    ['Petén', 'Sayaxche', 'GT-PE-1710'],
    ['PETEN', 'POPTUN', 'GT-PE-1712'],
    ['Alta-Verapaz', 'Cobán', 'GT-AV-1601'],
    ['Sololá', 'Panajachel', 'GT-SO-0710'],
    ['Solola', 'Nahuala', 'GT-SO-0705'],
    ['Huehuetenango', 'San Mateo Ixtatan', 'GT-HU-1318'],
    ['Totonicapán', 'Momostenango', 'GT-TO-0805'],
    // Articles
    ['El Petén', 'Flores', 'GT-PE-1701'],
    ['El Quiché', 'Nebaj', 'GT-QC-1413'],
    ['Quiché', 'Santa Cruz de El Quiché', 'GT-QC-1401'],
    ['Quiché', 'Santa Cruz Quiché', 'GT-QC-1401'],
    ['Progreso', 'Guastatoya', 'GT-PR-0201'],
    ['Sacatepéquez', 'La Antigua Guatemala', 'GT-SA-0301'],
    ['Escuintla', 'Gomera', 'GT-ES-0507'],
    ['Izabal', 'Estor', 'GT-IZ-1803'],
    ['San Marcos', 'Tumbador', 'GT-SM-1213'],
    ['Chiquimula', 'Concepción de las Minas', 'GT-CQ-2008'],
    ['Santa Rosa', 'San Rafael de las Flores', 'GT-SR-0605'],
    // Abbreviations
    ['Quiché', 'Sta. Cruz del Quiché', 'GT-QC-1401'],
    ['Escuintla', 'Sta Lucía Cotzumalguapa', 'GT-ES-0502'],
    ['Guatemala', 'Sn. Juan Sacatepéquez', 'GT-GU-0110'],
    ['Guatemala', 'Sn. José Pinula', 'GT-GU-0103'],
    ['Guatemala', 'San Juan Sac.', 'GT-GU-0110'],
    ['Guatemala', 'San Pedro Sac.', 'GT-GU-0109'],
    ['Guatemala', 'Sta. Catarina Pinula', 'GT-GU-0102'],
    ['Suchitepéquez', 'Sto. Domingo Suchitepéquez', 'GT-SU-1006'],
    ['Sololá', 'Stgo. Atitlán', 'GT-SO-0719'],
    ['Sacatepéquez', 'Sta. Ma. de Jesús', 'GT-SA-0311'],
    ['Izabal', 'Pto. Barrios', 'GT-IZ-1801'],
    ['Santa Rosa', 'Nva. Santa Rosa', 'GT-SR-0614'],
    ['Sta. Rosa', 'Barberena', 'GT-SR-0602'],
    ['Sn Marcos', 'Malacatán', 'GT-SM-1215'],
    // Generic words
    ['Departamento de Guatemala', 'Municipio de Mixco', 'GT-GU-0108'],
    ['Depto. Guatemala', 'Mun. de Villa Nueva', 'GT-GU-0115'],
    ['Depto. de Escuintla', 'municipio de Palín', 'GT-ES-0511'],
    ['Dpto. Zacapa', 'Mpio. Gualán', 'GT-ZA-1904'],
    ['Guatemala', 'Ciudad de Guatemala', 'GT-GU-0101'],
    ['Guatemala', 'Cd. de Guatemala', 'GT-GU-0101'],
    ['Guatemala', 'Guatemala City', 'GT-GU-0101'],
    ['Guatemala', 'Ciudad Guatemala', 'GT-GU-0101'],
    ['Ciudad de Guatemala', 'Guatemala', 'GT-GU-0101'],
    ['Guatemala', 'Guatemala, zona 10', 'GT-GU-0101'],
    ['Guatemala', 'Guatemala zona 10', 'GT-GU-0101'],
    ['Guatemala', 'Guatemala Z. 1', 'GT-GU-0101'],
    ['Guatemala', 'Mixco zona 4', 'GT-GU-0108'],
    ['Guatemala', 'Mixco zona4', 'GT-GU-0108'],
    ['Guatemala', 'Mixco z4', 'GT-GU-0108'],
    ['Guatemala', 'Mixco, Guatemala', 'GT-GU-0108'],
    ['Guatemala', 'Villa Nueva (Bárcenas)', 'GT-GU-0115'],
    ['Sacatepéquez', 'Ciudad Vieja', 'GT-SA-0312'],
    ['Sacatepéquez', 'Cd. Vieja', 'GT-SA-0312'],
    // Codes
    ['GT-GU', 'Mixco', 'GT-GU-0108'],
    ['gt-gu', 'Mixco', 'GT-GU-0108'],
    ['GT-01', 'Mixco', 'GT-GU-0108'],
    ['MX-CMX', 'Tlalpan', 'MX-CMX-tlalpan'],
    // Other names
    ['Guatemala', 'Petapa', 'GT-GU-0117'],
    ['Guatemala', 'San Miguel Petapa', 'GT-GU-0117'],
    ['Guatemala', 'San Raimundo', 'GT-GU-0111'],
    ['Guatemala', 'San Raymundo', 'GT-GU-0111'],
    ['Sacatepéquez', 'Antigua', 'GT-SA-0301'],
    ['Sacatepéquez', 'La Antigua', 'GT-SA-0301'],
    ['Xela', 'Xela', 'GT-QZ-0901'],
    ['Huehue', 'Huehue', 'GT-HU-1301'],
    ['Reu', 'Reu', 'GT-RE-1101'],
    ['Toto', 'Toto', 'GT-TO-0801'],
    ['Suchitepéquez', 'Mazate', 'GT-SU-1001'],
    ['Quiché', 'Chichi', 'GT-QC-1406'],
    ['Quiché', 'Santo Tomás Chichicastenango', 'GT-QC-1406'],
    ['Quiché', 'Playa Grande', 'GT-QC-1420'],
    ['Quiché', 'Ixcán', 'GT-QC-1420'],
    ['San Marcos', 'Ayutla', 'GT-SM-1217'],
    ['San Marcos', 'Tecún Umán', 'GT-SM-1217'],
    ['San Marcos', 'Ciudad Tecún Umán', 'GT-SM-1217'],
    ['Chimaltenango', 'Tecpán', 'GT-CM-0406'],
    ['Chimaltenango', 'San Juan Comalapa', 'GT-CM-0404'],
    ['Huehuetenango', 'Santa Cruz Barillas', 'GT-HU-1326'],
    ['Huehuetenango', 'San Pedro Soloma', 'GT-HU-1308'],
    ['Huehuetenango', 'San Ildefonso Ixtahuacán', 'GT-HU-1309'],
    ['Huehuetenango', 'Unión Cantinil', 'GT-HU-1332'],
    ['Escuintla', 'San José', 'GT-ES-0509'],
    ['Escuintla', 'Puerto de San José', 'GT-ES-0509'],
    ['Alta Verapaz', 'Carchá', 'GT-AV-1609'],
    ['Alta Verapaz', 'Santa Catalina La Tinta', 'GT-AV-1616'],
    ['Alta Verapaz', 'Panzós', 'GT-AV-1607'],
    ['Alta Verapaz', 'Fray Bartolome de Las Casas', 'GT-AV-1615'],
    ['Izabal', 'Livingston', 'GT-IZ-1802'],
    ['Izabal', 'Lívingston', 'GT-IZ-1802'],
    ['Suchitepéquez', 'San José La Máquina', 'GT-SU-1021'],
    // The three that GeoNames lacks, and the one that it has elsewhere
    ['Escuintla', 'Sipacate', 'GT-ES-0514'],
    ['Petén', 'Las Cruces', 'GT-PE-1713'],
    ['Huehuetenango', 'Petatán', 'GT-HU-1333'],
    ['Suchitepéquez', 'Samayac', 'GT-SU-1008'],
    // One name, several departments
    ['San Marcos', 'San Pedro Sacatepéquez', 'GT-SM-1202'],
    ['Guatemala', 'San Pedro Sacatepéquez', 'GT-GU-0109'],
    ['Jutiapa', 'El Progreso', 'GT-JU-2202'],
    ['Zacapa', 'La Unión', 'GT-ZA-1909'],
  ])('%s, %s: %s', (departamento, municipio, codigo) => {
    expect(read(departamento, municipio)).toBe(codigo)
  })

  it.each([
    ['San Salvador', 'Delgado', 'SV-SS Ciudad Delgado'],
    ['San Salvador', 'Cd. Delgado', 'SV-SS Ciudad Delgado'],
    ['San Salvador', 'Soyapango', 'SV-SS Soyapango'],
    ['La Libertad', 'Nueva San Salvador', 'SV-LI Santa Tecla'],
    ['La Libertad', 'Opico', 'SV-LI San Juan Opico'],
    ['La Libertad', 'Puerto de la Libertad', 'SV-LI La Libertad'],
    ['Cabañas', 'Ilobasco', 'SV-CA Ilobasco'],
    ['Cabanas', 'ilobasco', 'SV-CA Ilobasco'],
    ['Morazán', 'Gotera', 'SV-MO San Francisco Gotera'],
    ['Francisco Morazán', 'Tegucigalpa', 'HN-FM Distrito Central'],
    ['Francisco Morazán', 'Distrito Central', 'HN-FM Distrito Central'],
    ['Cortés', 'San Pedro Sula', 'HN-CR San Pedro Sula'],
    ['Cortes', 'Puerto Cortes', 'HN-CR Puerto Cortés'],
    ['Islas de la Bahia', 'Roatan', 'HN-IB Roatán'],
    ['Olancho', 'Catacamas', 'HN-OL Catacamas'],
    ['Copán', 'La Entrada', 'HN-CP Nueva Arcadia'],
    ['Managua', 'Managua', 'NI-MN Managua'],
    ['RACCS', 'Bluefields', 'NI-AS Bluefields'],
    ['Región Autónoma de la Costa Caribe Norte', 'Bilwi', 'NI-AN Puerto Cabezas'],
    ['León', 'Leon', 'NI-LE León'],
    ['San José', 'Escazú', 'CR-SJ Escazú'],
    ['Provincia de San José', 'Cantón de Pérez Zeledón', 'CR-SJ Pérez Zeledón'],
    ['San José', 'Coronado', 'CR-SJ Vázquez de Coronado'],
    ['Alajuela', 'Ciudad Quesada', 'CR-A San Carlos'],
    ['Limón', 'Guápiles', 'CR-L Pococí'],
    ['Panamá', 'Panama City', 'PA-8 Panamá'],
    ['Panamá', 'Ciudad de Panamá', 'PA-8 Panamá'],
    ['Panamá Oeste', 'La Chorrera', 'PA-10 La Chorrera'],
    ['Chiriquí', 'Bugaba', 'PA-4 Bugaba'],
    ['Comarca Ngäbe Buglé', 'Muna', 'PA-NB Müna'],
    ['Kuna Yala', 'Narganá', 'PA-KY Narganá'],
    ['Bogotá D.C.', 'Bogotá', 'CO-DC Bogotá'],
    ['Bogota', 'Bogota D.C.', 'CO-DC Bogotá'],
    ['Cundinamarca', 'Girardot', 'CO-CUN Girardot'],
    ['Antioquia', 'Itagui', 'CO-ANT Itagüí'],
    ['Valle del Cauca', 'Santiago de Cali', 'CO-VAC Cali'],
    ['Bolívar', 'Cartagena', 'CO-BOL Cartagena de Indias'],
    ['Ciudad de México', 'Coyoacán', 'MX-CMX Coyoacán'],
    ['CDMX', 'Álvaro Obregón', 'MX-CMX Álvaro Obregón'],
    ['Distrito Federal', 'Gustavo A Madero', 'MX-CMX Gustavo A. Madero'],
    ['Cd. de México', 'Ciudad de México', 'MX-CMX Ciudad de México'],
    ['Estado de México', 'Ecatepec', 'MX-MEX Ecatepec de Morelos'],
    ['Edo. de México', 'Toluca', 'MX-MEX Toluca'],
    ['México', 'Cd. Nezahualcóyotl', 'MX-MEX Nezahualcóyotl'],
    ['Guerrero', 'Acapulco', 'MX-GRO Acapulco de Juárez'],
    ['Nuevo Leon', 'Monterrey', 'MX-NLE Monterrey'],
    ['Nuevo León', 'Apodaca', 'MX-NLE Ciudad Apodaca'],
    ['Querétaro', 'Querétaro', 'MX-QUE Querétaro'],
    ['Guanajuato', 'León', 'MX-GUA León'],
    ['Quintana Roo', 'Benito Juárez', 'MX-ROO Cancún'],
    ['Veracruz', 'Jalapa', 'MX-VER Xalapa'],
    ['Durango', 'Durango', 'MX-DUR Durango'],
    ['Chihuahua', 'Juárez', 'MX-CHH Ciudad Juárez'],
  ])('%s, %s: %s', (departamento, municipio, expectedName) => {
    expect(nameOf(departamento, municipio)).toBe(expectedName)
  })

  it.each([
    ['Colón', 'Portobelo', 'PA-3 Portobelo'],
    ['Colón', 'Trujillo', 'HN-CL Trujillo'],
    ['La Paz', 'Olocuilta', 'SV-PA Olocuilta'],
    ['La Paz', 'Marcala', 'HN-LP Marcala'],
    ['Valle', 'Nacaome', 'HN-VA Nacaome'],
    ['Valle', 'Palmira', 'CO-VAC Palmira'],
  ])('the municipality decides the country: %s, %s', (departamento, municipio, expectedName) => {
    expect(nameOf(departamento, municipio)).toBe(expectedName)
  })
})

describe('suggestions', () => {
  it.each([
    ['Guatemala', 'Micxo', [], ['Mixco']],
    ['Guatemala', 'Villa Nueba', [], ['Villa Nueva']],
    ['Guatemala', 'San', [], []],
    ['Sacatepéquez', 'Santa Lucía', [], ['Santa Lucía Milpas Altas']],
    ['Guatmala', 'Mixco', ['Guatemala'], ['Mixco']],
    ['Sacatepeqes', 'Ciudad Viega', ['Sacatepéquez'], ['Ciudad Vieja']],
    // Known, but elsewhere
    ['Quiché', 'Mixco', ['Guatemala'], []],
    ['Zona Metropolitana', 'Mixco', ['Guatemala'], ['Mixco']],
    ['Nadie', 'Nada', [], []],
    ['', '', [], []],
    ['¿?', '***', [], []],
  ])('%s, %s', (departamento, municipio, ofDepartamentos, ofMunicipios) => {
    expect(read(departamento, municipio)).toEqual({ departamentos: ofDepartamentos, municipios: ofMunicipios })
  })

  it('are three at most, the nearest first', () => {
    expect(similarDepartamentos('San Marco')[0]).toBe('San Marcos')
    const { municipios } = read('Guatemala', 'San Jose') as { municipios: string[] }
    expect(municipios).toEqual(['San José del Golfo', 'San José Pinula'])
    expect(
      nearestNames(
        'aaab',
        ['aaaa', 'aaac', 'aaad', 'aaae', 'zzzz'].map((x) => ({ nombre: x, clave: x })),
        3,
      ),
    ).toEqual(['aaaa', 'aaac', 'aaad'])
  })

  it('stay within the distance of the last of a full list, and take any near name before that', () => {
    const names = ['xabcabcabcad', 'xabcabcadddd', 'xabcabcabcdd', 'xabcabcabddd'].map((x) => ({
      nombre: x,
      clave: x,
    }))
    expect(nearestNames('xabcabcabcab', names, 3)).toEqual(['xabcabcabcad', 'xabcabcabcdd', 'xabcabcabddd'])
  })

  it('count what the plain algorithm counts', () => {
    const letter = fc.constantFrom('a', 'b', 'c')
    const word = fc.array(letter, { minLength: 4, maxLength: 14 }).map((letters) => `x${letters.join('')}`)
    fc.assert(
      fc.property(word, word, (a, b) => {
        const tope = Math.min(4, Math.floor(a.length / 3))
        const nearby = b.startsWith(a) || distancia(a, b) <= tope
        expect(nearestNames(a, [{ nombre: b, clave: b }], 3)).toEqual(nearby ? [b] : [])
      }),
      { numRuns: 2_000 },
    )
  })

  it('never throws, and never says too much', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ maxLength: 20 }),
      fc.constantFrom(
        'Guatemala',
        'La Paz',
        'Oaxaca',
        'constructor',
        '__proto__',
        'zona 1',
        'Z1',
        'de la',
        'Ciudad',
        'Ñ',
      ),
    )
    fc.assert(
      fc.property(text, text, (departamento, municipio) => {
        const read = findDestino(departamento, municipio)
        const centre = centreOf(departamento, municipio)
        if ('suggest' in read) {
          expect(centre).toBeUndefined()
          expect(read.suggest().departamentos.length).toBeLessThanOrEqual(3)
          expect(read.suggest().municipios.length).toBeLessThanOrEqual(3)
        } else expect(centre).toEqual({ lat: read.municipio.lat, lng: read.municipio.lng })
        municipiosOf(departamento)
        similarDepartamentos(departamento)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the data', () => {
  it('has every department of the eight countries', () => {
    const cuentas = COUNTRY_TABLES.map(({ pais }) => [pais, departamentos(pais as 'GT').length])
    expect(Object.fromEntries(cuentas)).toEqual({ GT: 22, SV: 14, HN: 18, NI: 17, CR: 7, PA: 13, CO: 33, MX: 32 })
    expect(departamentos()).toHaveLength(156)
    const countMunicipios = (pais: 'GT') =>
      departamentos(pais).reduce((n, { codigo }) => n + municipiosOf(codigo).length, 0)
    expect(countMunicipios('GT')).toBe(340)
    expect(countMunicipios('SV' as 'GT')).toBe(262)
    expect(countMunicipios('HN' as 'GT')).toBe(298)
    expect(countMunicipios('NI' as 'GT')).toBe(153)
    expect(countMunicipios('CR' as 'GT')).toBe(84)
  })

  it.each(COUNTRY_TABLES.map(({ pais, caja }) => [pais, caja] as const))('%s lies within its borders', (pais, caja) => {
    const [sur, north, west, este] = caja
    for (const departamento of departamentos(pais as 'GT')) {
      const municipios = municipiosOf(departamento.codigo)
      expect(municipios.length, departamento.nombre).toBeGreaterThan(0)
      for (const { nombre, lat, lng } of [departamento, ...municipios]) {
        expect([nombre, lat >= sur && lat <= north && lng >= west && lng <= este]).toEqual([nombre, true])
      }
      // GeoNames' mistakes are of this kind: a place with the coordinates of its namesake in another department.
      const far = municipios.filter((m) => distanceKm(m, departamento) > (DIAMETER[pais] ?? 0))
      expect(far.map(({ nombre }) => nombre)).toEqual([])
    }
  })

  it('finds every municipality by its own name and its department’s code, and no code is used twice', () => {
    const codigos = new Set<string>()
    for (const { codigo } of departamentos()) {
      for (const municipio of municipiosOf(codigo)) {
        expect(read(codigo, municipio.nombre)).toBe(municipio.codigo)
        expect(read(codigo, municipio.nombre.toUpperCase())).toBe(municipio.codigo)
        codigos.add(municipio.codigo)
      }
    }
    expect(codigos.size).toBe(departamentos().reduce((n, { codigo }) => n + municipiosOf(codigo).length, 0))
  })

  it('says where things are', () => {
    expect(centreOf('Guatemala', 'Guatemala')).toEqual({ lat: 14.64072, lng: -90.51327 })
    expect(centreOf('Guatemala', 'Nada')).toBeUndefined()
    expect(findDepartamentos('Colon').map(({ codigo }) => codigo)).toEqual(['HN-CL', 'PA-3'])
    const [guatemala, oldCapital] = [centreOf('GT-GU', 'Guatemala')!, centreOf('GT-SA', 'Antigua')!]
    expect(distanceKm(guatemala, oldCapital)).toBeCloseTo(25.3, 0)
    expect(distanceKm(oldCapital, oldCapital)).toBe(0)
    expect(distanceKm({ lat: 90, lng: 0 }, { lat: -90, lng: 0 })).toBeCloseTo(20_015, 0)
    // Where the town's place isn't known, the department's stands for it and says so.
    const [guiaWithoutPlace] = municipiosOf('SV-CA').filter(({ aproximado }) => aproximado)
    const [cabanas] = departamentos('SV').filter(({ codigo }) => codigo === 'SV-CA')
    expect([guiaWithoutPlace!.lat, guiaWithoutPlace!.lng]).toEqual([cabanas!.lat, cabanas!.lng])
    expect(municipiosOf('GT-PE').some(({ aproximado }) => aproximado)).toBe(false)
  })
})

/** How far from its department's centre a municipality may lie, in km. */
const DIAMETER: Record<string, number> = { GT: 130, SV: 60, HN: 150, NI: 230, CR: 600, PA: 220, CO: 450, MX: 800 }

/** Optimal string alignment, written for reading. */
function distancia(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i && j ? 0 : i + j)),
  )
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const cambio = d[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      d[i]![j] = Math.min(d[i - 1]![j]! + 1, d[i]![j - 1]! + 1, cambio)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        d[i]![j] = Math.min(d[i]![j]!, d[i - 2]![j - 2]! + 1)
    }
  }
  return d[a.length]![b.length]!
}
