import { describe, expect, it } from 'vitest'
import { creationDayOf, searchKeysOf, toTsvector } from '../../server/domain/busqueda/keys.ts'
import { similarWords, soundOf, textPartsOf, wordSoundsOf } from '../../server/domain/busqueda/words.ts'

const soundOfWord = (word: string) => soundOf(textPartsOf(word)[0]!)

describe('the sound of a word', () => {
  it.each([
    ['Jiménez', 'GIMENES'],
    ['González', 'gonsales'],
    ['Hernández', 'Ernandes'],
    ['Chávez', 'chabes'],
    ['Quetzaltenango', 'ketsaltenango'],
    ['Guillermo', 'Gillermo'],
    ['Yesenia', 'Llesenia'],
    ['Leidy', 'Leydi'],
    ['Campos', 'Canpos'],
    ['Muñoz', 'munos'],
    ['Anna', 'Ana'],
    ['Karina', 'Carina'],
    ['Xol', 'Shol'],
    ['Ximena', 'Simena'],
  ])('is the same for %s and %s', (one, other) => {
    expect(soundOfWord(other)).toBe(soundOfWord(one))
  })

  it.each([
    ['Marta', 'María'],
    ['Sancho', 'Santo'],
    ['Rosa', 'Roja'],
  ])('is another one for %s and %s', (one, other) => {
    expect(soundOfWord(other)).not.toBe(soundOfWord(one))
  })

  it('leaves words that are not of plain letters as they are', () => {
    expect(textPartsOf('Zona 10-B2 Ωμέγα').map(soundOf)).toEqual(['sona', '10', 'b2', 'ωμεγα'])
  })
})

describe('the words of a name', () => {
  it('are eight at most, without those that a name may lack', () => {
    expect(wordSoundsOf('Sra. María de los Ángeles')).toEqual(['maria', 'anjeles'])
    expect(wordSoundsOf('a1 a2 a3 a4 a5 a6 a7 a8 a9')).toHaveLength(8)
    expect(wordSoundsOf('— ’ ¿?')).toEqual([])
  })
})

describe('the words with one typing error', () => {
  it.each(['mari', 'mariia', 'marla', 'amria', 'aria', 'mraia', 'maria'])('have %s among those of maria', (other) => {
    expect(similarWords('maria')).toContain(other)
  })

  it.each(['mar', 'mirna', 'aamri'])('lack %s, which has two', (other) => {
    expect(similarWords('maria')).not.toContain(other)
  })

  it('are digits for a number', () => {
    expect(similarWords('12').toSorted()).toEqual(
      [...new Set(similarWords('12'))].filter((other) => /^\d{1,3}$/.test(other)).toSorted(),
    )
    expect(similarWords('12')).toContain('21')
  })
})

describe('the keys of a guide', () => {
  const guia = { destinatario: "Óscar D'Ángelo", municipio: 'Mixco', external_ref: 'Pedido-2026/00005' }
  const day = creationDayOf(new Date('2026-11-25T23:59:59Z'))

  it('have the words, the reference, its last part and the day', () => {
    expect(searchKeysOf({ ...guia, dia: day })).toEqual([
      'n:oskar',
      'n:d',
      'n:anjelo',
      'n:misko',
      'r:pedido202600005',
      'r:00005',
      'd:20782',
    ])
  })

  it('have nothing of an erased person, nor of a reference that is missing', () => {
    expect(searchKeysOf({ destinatario: null, municipio: 'Mixco', external_ref: null, dia: day })).toEqual([
      'n:misko',
      'd:20782',
    ])
  })

  it('are lexemes that PostgreSQL reads, also for texts with quotes and operators', () => {
    const oddEntries = searchKeysOf({
      destinatario: "a'b \\ c:d | e & 'f",
      municipio: "''",
      external_ref: "'--'",
      dia: day,
    })
    expect(toTsvector(oddEntries)).toMatch(/^'[\p{L}\p{N}:]+'( '[\p{L}\p{N}:]+')*$/u)
  })
})
