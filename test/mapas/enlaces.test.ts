import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ErrorEnlace, leerEnlace } from '../../server/mapas/enlaces.ts'

// What a link should give: 'lat,lng', 'corto', 'sin' (no coordinates), or the reason of the refusal.
type Caso = [enlace: string, esperado: string | RegExp]

function leer(enlace: string, hosts?: readonly string[]): string {
  const leido = leerEnlace(enlace, hosts)
  if (leido.tipo === 'coordenadas') return `${leido.coordenadas.lat},${leido.coordenadas.lng}`
  return leido.tipo === 'corto' ? 'corto' : 'sin'
}

function tabla(titulo: string, casos: Caso[]) {
  describe(titulo, () => {
    it.each(casos)('%s', (enlace, esperado) => {
      if (typeof esperado === 'string') return expect(leer(enlace)).toBe(esperado)
      expect(() => leer(enlace)).toThrow(ErrorEnlace)
      expect(() => leer(enlace)).toThrow(esperado)
    })
  })
}

const G = 'https://www.google.com/maps'
const P = '14.6349,-90.5069'
const NO_ES_MAPA = /no es un mapa admitido/
const RUTA = /ruta del enlace no es la de un mapa/
const MAL_ESCRITO = /dominio del enlace está mal escrito/
const SIN_HTTPS = /debe empezar con https/
const INVISIBLE = /control o invisibles/
const ESPACIO = /lleva espacios/

tabla('los tres enlaces del lote', [
  ['https://maps.google.com/?q=14.646830,-90.791220', '14.64683,-90.79122'],
  [`${G}/place/x/@14.300900,-90.785810,17z`, '14.3009,-90.78581'],
  ['https://www.waze.com/ul?ll=14.423210%2C-91.160490&navigate=yes', '14.42321,-91.16049'],
])

tabla('hosts de Google admitidos', [
  [`https://google.com/maps?q=${P}`, P],
  [`https://www.google.com/maps?q=${P}`, P],
  [`https://www.google.com/maps/?q=${P}`, P],
  [`https://www.google.com.gt/maps?q=${P}`, P],
  [`https://google.com.gt/maps?q=${P}`, P],
  [`https://www.google.co.cr/maps?q=${P}`, P],
  [`https://www.google.com.sv/maps?q=${P}`, P],
  [`https://www.google.com.ni/maps?q=${P}`, P],
  [`https://www.google.hn/maps?q=${P}`, P],
  [`https://www.google.com.pa/maps?q=${P}`, P],
  [`https://www.google.com.bz/maps?q=${P}`, P],
  [`https://www.google.com.co/maps?q=${P}`, P],
  [`https://www.google.com.mx/maps?q=${P}`, P],
  [`https://www.google.es/maps?q=${P}`, P],
  [`https://www.google.us/maps?q=${P}`, P],
  [`https://www.google.co.uk/maps?q=${P}`, P],
  [`https://www.google.cat/maps?q=${P}`, P],
  [`https://maps.google.com?q=${P}`, P],
  [`https://maps.google.com/maps?q=${P}`, P],
  [`https://maps.google.com.gt/?q=${P}`, P],
  [`https://maps.google.co.cr/maps?q=${P}`, P],
  [`https://maps.google.es/?q=${P}`, P],
  [`HTTPS://WWW.GOOGLE.COM/maps?q=${P}`, P],
  [`https://Maps.Google.Com/?q=${P}`, P],
  [`https://www.google.com:443/maps?q=${P}`, P],
  [`https://www.google.com/x/../maps?q=${P}`, P],
])

tabla('hosts que se parecen pero no son', [
  [`https://google.com.evil.example/maps?q=${P}`, NO_ES_MAPA],
  [`https://www.google.com.evil.example/maps?q=${P}`, NO_ES_MAPA],
  [`https://evilgoogle.com/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.evil/maps?q=${P}`, NO_ES_MAPA],
  [`https://www.google.evil/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.com.us/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.co/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.gt/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.net/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.app/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.com.com/maps?q=${P}`, NO_ES_MAPA],
  [`https://google.constructor/maps?q=${P}`, NO_ES_MAPA],
  [`https://google./maps?q=${P}`, MAL_ESCRITO],
  [`https://maps.google/?q=${P}`, NO_ES_MAPA],
  [`https://maps.google.evil/?q=${P}`, NO_ES_MAPA],
  [`https://maps.google.com.evil.example/?q=${P}`, NO_ES_MAPA],
  [`https://evil.maps.google.com/?q=${P}`, NO_ES_MAPA],
  [`https://consent.google.com/ml?continue=${G}?q=${P}`, NO_ES_MAPA],
  [`https://sites.google.com/maps?q=${P}`, NO_ES_MAPA],
  ['https://maps.app.goo.gl.evil.example/abc', NO_ES_MAPA],
  ['https://evil.maps.app.goo.gl/abc', NO_ES_MAPA],
  ['https://app.goo.gl/abc', NO_ES_MAPA],
  ['https://waze.com.evil.example/ul?ll=14.6,-90.5', NO_ES_MAPA],
  ['https://notwaze.com/ul?ll=14.6,-90.5', NO_ES_MAPA],
  ['https://openstreetmap.com/#map=15/14.6/-90.5', NO_ES_MAPA],
  ['https://apple.com/?ll=14.6,-90.5', NO_ES_MAPA],
  ['https://bit.ly/abc', NO_ES_MAPA],
  ['https://127.0.0.1/maps?q=14.6,-90.5', NO_ES_MAPA],
  ['https://localhost/maps', NO_ES_MAPA],
  [`https://www.google.com./maps?q=${P}`, MAL_ESCRITO],
  ['https://maps.app.goo.gl./abc', MAL_ESCRITO],
  [`https://www.gооgle.com/maps?q=${P}`, MAL_ESCRITO], // Cyrillic о
  [`https://www.goоgle.com/maps?q=${P}`, MAL_ESCRITO],
  [`https://www.google。com/maps?q=${P}`, MAL_ESCRITO], // ideographic full stop, which parsers read as a dot
  [`https://www.ｇｏｏｇｌｅ.com/maps?q=${P}`, MAL_ESCRITO], // full width, which parsers fold to ASCII
  [`https://www.xn--ggle-0nda.com/maps?q=${P}`, NO_ES_MAPA],
  [`https://%77ww.google.com/maps?q=${P}`, MAL_ESCRITO],
  [`https://www.google.com%2eevil.example/maps?q=${P}`, MAL_ESCRITO],
  ['https://[::1]/maps', /puerto|mal escrito/],
  ['https:///www.google.com/maps', MAL_ESCRITO],
  ['https://', MAL_ESCRITO],
  ['https://?q=14.6,-90.5', MAL_ESCRITO],
])

tabla('rutas que no son de un mapa', [
  [`https://www.google.com/?q=${P}`, RUTA],
  [`https://www.google.com/search?q=${P}`, RUTA],
  [`https://www.google.com/url?q=https://www.google.com/maps?q=${P}`, RUTA],
  [`https://www.google.com/maps/../url?q=${P}`, RUTA],
  [`https://www.google.com/maps/%2e%2e/url?q=${P}`, RUTA],
  [`https://www.google.com/mapsevil?q=${P}`, RUTA],
  [`https://www.google.com/Maps?q=${P}`, RUTA],
  [`https://www.google.com/%6Daps?q=${P}`, RUTA],
  [`https://www.google.com//maps?q=${P}`, RUTA],
  [`https://www.google.com/maps/url?q=${P}`, RUTA],
  ['https://maps.google.com/url?q=https://evil.example', RUTA],
  ['https://goo.gl/abc', RUTA],
  ['https://goo.gl/mapsabc', RUTA],
  ['https://goo.gl/forms/abc', RUTA],
])

tabla('esquemas, usuarios, puertos y caracteres', [
  ['', /está vacío/],
  [`http://www.google.com/maps?q=${P}`, SIN_HTTPS],
  ['javascript:alert(1)', SIN_HTTPS],
  ['javascript://www.google.com/maps?q=14.6,-90.5', SIN_HTTPS],
  ['data:text/html,14.6,-90.5', SIN_HTTPS],
  ['file:///etc/passwd', SIN_HTTPS],
  ['ftp://maps.google.com/', SIN_HTTPS],
  ['waze://?ll=14.6,-90.5', SIN_HTTPS],
  ['comgooglemaps://?q=14.6,-90.5', SIN_HTTPS],
  ['intent://maps.google.com/#Intent;end', SIN_HTTPS],
  ['www.google.com/maps?q=14.6,-90.5', SIN_HTTPS],
  ['//www.google.com/maps?q=14.6,-90.5', SIN_HTTPS],
  ['14.6349,-90.5069', SIN_HTTPS],
  ['https:www.google.com/maps', SIN_HTTPS],
  ['https:/www.google.com/maps', SIN_HTTPS],
  ['https', SIN_HTTPS],
  ['view-source:https://www.google.com/maps', SIN_HTTPS],
  [`https://user@www.google.com/maps?q=${P}`, /usuario o contraseña/],
  [`https://user:clave@www.google.com/maps?q=${P}`, /usuario o contraseña/],
  [`https://@www.google.com/maps?q=${P}`, /usuario o contraseña/],
  ['https://www.google.com@evil.example/maps', /usuario o contraseña/],
  ['https://www.google.com:443@evil.example/maps', /usuario o contraseña/],
  [`https://www.google.com:8443/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:80/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:0443/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:443:443/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com\\@evil.example/maps?q=${P}`, /barra invertida/],
  [`https:\\\\www.google.com/maps?q=${P}`, /barra invertida/],
  [`${G}?q=14.6,\\-90.5`, /barra invertida/],
  [`${G}?q=14.6, -90.5`, ESPACIO],
  [` ${G}?q=${P}`, ESPACIO],
  [`${G}?q=${P} `, ESPACIO],
  [`${G}?q=14.6,\u00a0-90.5`, ESPACIO],
  [`${G}?q=${P}\u2028`, ESPACIO],
  [`Mi casa: ${G}?q=${P}`, ESPACIO],
  [`${G}?q=${P}\n`, INVISIBLE],
  [`ht\ttps://www.google.com/maps?q=${P}`, INVISIBLE],
  [`https://www.goo\u0000gle.com/maps?q=${P}`, INVISIBLE],
  [`https://www.goo\u00adgle.com/maps?q=${P}`, INVISIBLE],
  [`https://www.goo\u200bgle.com/maps?q=${P}`, INVISIBLE],
  [`${G}?q=\u202e${P}`, INVISIBLE],
  [`\ufeff${G}?q=${P}`, INVISIBLE],
  [`${G}?q=\ud800`, INVISIBLE],
])

tabla('enlaces cortos', [
  ['https://maps.app.goo.gl/BNG51boEtrRhEYmi7', 'corto'],
  ['https://maps.app.goo.gl/BNG51boEtrRhEYmi7?g_st=ic', 'corto'],
  ['https://maps.app.goo.gl/BNG51boEtrRhEYmi7/', 'corto'],
  ['https://MAPS.APP.GOO.GL/BNG51boEtrRhEYmi7', 'corto'],
  ['https://goo.gl/maps/AbCd1234', 'corto'],
  ['https://goo.gl/maps/AbCd1234?q=14.6,-90.5', 'corto'],
  ['https://maps.app.goo.gl/', 'sin'],
  ['https://maps.app.goo.gl', 'sin'],
  ['https://maps.app.goo.gl/?link=https://evil.example', 'sin'],
  ['https://goo.gl/maps', 'sin'],
  ['https://goo.gl/maps/', 'sin'],
])

tabla('Google: el punto del lugar (!3d!4d) antes que lo demás', [
  [
    `${G}/place/Framig/@14.6447208,-90.5150638,20z/data=!4m6!3m5!1s0x8589a21041612851:0xa3e3a7a6dfec3351!8m2!3d14.6447548!4d-90.5149382!16s%2Fg%2F11c1tcx11g?entry=ttu&g_ep=EgoyMDI2MDcxMi4w`,
    '14.6447548,-90.5149382',
  ],
  [`${G}/place/x/@14.1,-90.1,17z/data=!3d14.6!4d-90.5`, '14.6,-90.5'],
  [`${G}/place/x/data=!3d14.6!4d-90.5?q=1.5,2.5&ll=3.5,4.5`, '14.6,-90.5'],
  [`${G}/place/x/@14.1,-90.1,17z/data=%213d14.6%214d-90.5`, '14.6,-90.5'],
  [`${G}?data=!4m2!3d14.6!4d-90.5&q=Casa`, '14.6,-90.5'],
  [`${G}/search/farmacia/@14.1,-90.1,15z/data=!4m5!2m1!1sfarmacia!8m2!3d14.6!4d-90.5`, '14.6,-90.5'],
  // A place opened from another's page: the shown one comes last.
  [`${G}/place/x/data=!4m13!1m7!3m6!1s0xa:0xb!2sA!8m2!3d14.1!4d-90.1!3m4!1s0xc:0xd!8m2!3d14.6!4d-90.5`, '14.6,-90.5'],
  // ... and when it has no point, its predecessor's is not its own.
  [`${G}/place/x/@14.6,-90.5,17z/data=!1m7!3m6!1s0xa:0xb!8m2!3d14.1!4d-90.1!3m1!1s0xc:0xd`, '14.6,-90.5'],
  [`${G}/place/x/data=!3m1!1s0xa:0xb`, 'sin'],
  [`${G}/place/x/data=!3d91!4d-90.5`, 'sin'],
  [`${G}/place/x/data=!3d14.6!4d-190.5`, 'sin'],
  [`${G}/place/x/data=!3d0!4d0`, 'sin'],
  [`${G}/place/x/data=!3d14.6`, 'sin'],
  [`${G}/place/x/data=!4d-90.5!3d14.6`, 'sin'],
  [`${G}/place/x/data=!3d14.6e0!4d-90.5`, 'sin'],
  [`${G}/place/x/data=!3d14.6!4d-90.5e1`, 'sin'],
  [`${G}/place/x/@14.6,-90.5,17z/data=!3dNaN!4dNaN`, '14.6,-90.5'],
])

tabla('Google: parámetros', [
  [`${G}?q=14.6%2C-90.5`, '14.6,-90.5'],
  [`${G}?q=14.6,+-90.5`, '14.6,-90.5'],
  [`${G}?q=14.6%2C%20-90.5`, '14.6,-90.5'],
  [`${G}?q=%2B14.6,-90.5`, '14.6,-90.5'],
  [`${G}?q=+14.6,+90.5+`, '14.6,90.5'],
  [`${G}?q=-34.6037,-58.3816`, '-34.6037,-58.3816'],
  [`${G}?q=14,-90`, '14,-90'],
  [`${G}?q=90,180`, '90,180'],
  [`${G}?q=-90,-180`, '-90,-180'],
  [`${G}?q=0,-90.5`, '0,-90.5'],
  [`${G}?q=-0.00000001,-90.5`, '0,-90.5'],
  [`${G}?q=14.634912345678,-90.506987654321`, '14.6349123,-90.5069877'],
  [`${G}?q=loc:14.6,-90.5`, '14.6,-90.5'],
  [`${G}?q=loc:14.6+-90.5`, '14.6,-90.5'],
  [`${G}?q=14.6+-90.5`, '14.6,-90.5'],
  [`${G}?q=14.6,-90.5(Casa+de+Ana)`, '14.6,-90.5'],
  [`${G}?q=14.6,-90.5+(Casa)`, '14.6,-90.5'],
  [`${G}?q=14.6,-90.5(Casa%0A(azul))`, '14.6,-90.5'],
  [`${G}?q=14%C2%B038%2726.5%22N+90%C2%B030%2747.8%22W`, '14.6406944,-90.5132778'],
  [`${G}?q=14.6,-90.5&ftid=0xa:0xb&hl=es`, '14.6,-90.5'],
  [`${G}?q=14.6,-90.5&ll=14.1,-90.1`, '14.6,-90.5'],
  [`${G}?q=Casa&ll=14.6,-90.5`, '14.6,-90.5'],
  [`${G}?q=91,0&ll=14.6,-90.5`, '14.6,-90.5'],
  [`${G}/search/?api=1&query=14.6%2C-90.5&query_place_id=ChIJ`, '14.6,-90.5'],
  [`${G}/place/x/@14.1,-90.1,17z?q=14.6,-90.5`, '14.6,-90.5'],
  [`${G}/d/viewer?mid=1a2b&ll=14.6,-90.5&z=15`, '14.6,-90.5'],
  [`${G}/@?api=1&map_action=map&center=14.6%2C-90.5&zoom=12`, '14.6,-90.5'],
  [`${G}/@?api=1&map_action=pano&viewpoint=14.6%2C-90.5`, '14.6,-90.5'],
  [`${G}?layer=c&cbll=14.6,-90.5`, '14.6,-90.5'],
  [`${G}?q=Casa&sll=14.6,-90.5`, 'sin'],
  [`${G}?q=0,0`, 'sin'],
  [`${G}?q=0,0(Casa)`, 'sin'],
  [`${G}?q=0.0,-0.0`, 'sin'],
  [`${G}?q=0.00000001,0`, 'sin'],
  [`${G}?q=90.0001,-90.5`, 'sin'],
  [`${G}?q=90.00000001,-90.5`, 'sin'],
  [`${G}?q=14.6,180.0001`, 'sin'],
  [`${G}?q=-90.5069,14.6349&ll=200,300`, 'sin'],
  [`${G}?q=1e3,5`, 'sin'],
  [`${G}?q=14.6,-9e1`, 'sin'],
  [`${G}?q=0x10,0x20`, 'sin'],
  [`${G}?q=NaN,NaN`, 'sin'],
  [`${G}?q=Infinity,-Infinity`, 'sin'],
  [`${G}?q=14.,-90.5`, 'sin'],
  [`${G}?q=.6,-90.5`, 'sin'],
  [`${G}?q=14.6.1,-90.5`, 'sin'],
  [`${G}?q=--14.6,-90.5`, 'sin'],
  [`${G}?q=14,6349,-90,5069`, 'sin'],
  [`${G}?q=١٤.٦,-٩٠.٥`, 'sin'],
  [`${G}?q=0014.6,-90.5`, 'sin'],
  [`${G}?q=14.6,-90.5,Guatemala`, 'sin'],
  [`${G}?q=14.6`, 'sin'],
  [`${G}?q=12+45`, 'sin'],
  [`${G}?q=7a+avenida+5-10,+zona+1`, 'sin'],
  [`${G}?Q=14.6,-90.5`, 'sin'],
  [`${G}?cid=1234567890`, 'sin'],
  [`${G}?q=%E0%A4%A`, 'sin'],
  [`${G}?q=%`, 'sin'],
  [G, 'sin'],
  [`${G}/`, 'sin'],
  ['https://maps.google.com/?cid=1234567890', 'sin'],
])

tabla('Google: rutas /place y /search', [
  [`${G}/place/14.6349,-90.5069`, P],
  [`${G}/place/14.6349,-90.5069/@14.1,-90.1,17z`, P],
  [`${G}/place/14.6349%2C-90.5069/`, P],
  [`${G}/place/14.6349,+-90.5069/`, P],
  [`${G}/place/+14.6349,-90.5069/`, P],
  [`${G}/place/14°38'26.5"N+90°30'47.8"W/`, '14.6406944,-90.5132778'],
  [`${G}/place/14%C2%B038'26.5%22N+90%C2%B030'47.8%22W/@14.1,-90.1,17z`, '14.6406944,-90.5132778'],
  [`${G}/place/14%C2%B038'26.5%22N+90%C2%B030'47.8%22O/`, '14.6406944,-90.5132778'],
  [`${G}/place/34º36'13"S,58º22'54"W`, '-34.6036111,-58.3816667'],
  [`${G}/place/48°51′24″N+2°21′8″E`, '48.8566667,2.3522222'],
  [`${G}/place/14°38.5'N+90°30'W`, '14.6416667,-90.5'],
  [`${G}/place/14°N+90°W`, '14,-90'],
  [`${G}/place/14°60'0"N+90°30'0"W`, 'sin'],
  [`${G}/place/14°38'75"N+90°30'0"W`, 'sin'],
  [`${G}/place/94°38'0"N+90°30'0"W`, 'sin'],
  [`${G}/place/14°38'0"X+90°30'0"W`, 'sin'],
  [`${G}/place/90°30'0"W+14°38'0"N`, 'sin'],
  [`${G}/search/14.63,+-90.5`, '14.63,-90.5'],
  [`${G}/search/14.63,-90.5/@14.1,-90.1,17z`, '14.63,-90.5'],
  [`${G}/search/14.63%2C%20-90.5?entry=tts`, '14.63,-90.5'],
  [`${G}/@14.6,-90.5,17z`, '14.6,-90.5'],
  [`${G}/@14.6,-90.5`, '14.6,-90.5'],
  [`${G}/@14.6,-90.5,500m/data=!3m1!1e3`, '14.6,-90.5'],
  [`${G}/@14.6,-90.5,3a,75y,90h,90t/data=!3m6!1e1!3m4!1sabc!2e0!7i16384!8i8192`, '14.6,-90.5'],
  [`${G}/%4014.6,-90.5,17z`, '14.6,-90.5'],
  [`${G}/place/Casa+de+Ana/@14.6,-90.5,17z?hl=es`, '14.6,-90.5'],
  [`${G}/place/Café+Ñandú/@14.6,-90.5,17z`, '14.6,-90.5'],
  [`${G}/place/100%/@14.6,-90.5,17z`, '14.6,-90.5'],
  [`${G}/place/A%26B/@14.6,-90.5,17z`, '14.6,-90.5'],
  [`${G}/place/@arroba/@14.6,-90.5,17z`, '14.6,-90.5'],
  [`${G}/place/x/@14.6,-90.5e1,17z`, 'sin'],
  [`${G}/place/x/@0,0,2z`, 'sin'],
  [`${G}/place/x/@91,0,17z`, 'sin'],
  [`${G}/place/x/@14.6`, 'sin'],
  [`${G}/place/Casa+de+Ana`, 'sin'],
  [`${G}/embed?pb=!1m18!1m12!1m3!1d3860.6!2d-90.5!3d14.6!2m3!1f0`, 'sin'],
])

tabla('Google: indicaciones (solo cuenta el destino)', [
  [`${G}/dir/A/14.6,-90.5/`, '14.6,-90.5'],
  [`${G}/dir/A/14.6,-90.5`, '14.6,-90.5'],
  [`${G}/dir//14.6,-90.5`, '14.6,-90.5'],
  [`${G}/dir/14.1,-90.1/14.6,-90.5/@14.3,-90.3,12z`, '14.6,-90.5'],
  [`${G}/dir/14.1,-90.1/14.2,-90.2/14.6,+-90.5/am=t/data=!3e0`, '14.6,-90.5'],
  [`${G}/dir/?api=1&origin=14.1,-90.1&destination=14.6%2C-90.5&travelmode=driving`, '14.6,-90.5'],
  [`${G}/dir/?api=1&destination=Casa+de+Ana&destination_place_id=ChIJ`, 'sin'],
  [
    `${G}/dir//Maas+Building/@40.1273579,-75.346435,11z/data=!4m9!4m8!1m0!1m5!1m1!1s0x89c6c8722a2cde35:0x4c1ba74ba873a077!2m2!1d-75.1452789!2d39.9720698!3e0`,
    '39.9720698,-75.1452789',
  ],
  [
    `${G}/dir/A/B/data=!4m14!4m13!1m5!1m1!1s0xa:0xb!2m2!1d-90.1!2d14.1!1m5!1m1!1s0xc:0xd!2m2!1d-90.5!2d14.6!3e3!4e1`,
    '14.6,-90.5',
  ],
  // A via point is not the destination.
  [
    `${G}/dir/A/B/data=!4m20!4m19!1m10!1m1!1s0xa:0xb!2m2!1d-90.1!2d14.1!3m4!1m2!1d-90.3!2d14.3!3s0xe:0xf!1m5!1m1!1s0xc:0xd!2m2!1d-90.5!2d14.6!3e0`,
    '14.6,-90.5',
  ],
  // The destination has no point: the origin's is not its own, nor is the middle of the route.
  [`${G}/dir/A/B/@14.3,-90.3,12z/data=!4m8!4m7!1m5!1m1!1s0xa:0xb!2m2!1d-90.1!2d14.1!1m0!3e0`, 'sin'],
  [`${G}/dir/A/B/data=!4m9!4m8!1m5!1m1!1s0xa:0xb!2m2!1d-90.1!2d14.1!1m2!1m1!1s0xc:0xd!3e0`, 'sin'],
  [`${G}/dir/A/B/@14.3,-90.3,12z`, 'sin'],
  [`${G}/dir/A/B/data=!8m2!3d14.1!4d-90.1!8m2!3d14.6!4d-90.5`, '14.6,-90.5'],
  [`${G}/dir/A/14.6,-90.5/data=!4m8!4m7!1m5!1m1!1s0xa:0xb!2m2!1d-90.1!2d14.1!1m0`, '14.6,-90.5'],
  [`${G}/dir/14.1,-90.1/`, 'sin'],
  [`${G}/dir/14.1,-90.1//@14.3,-90.3,12z`, 'sin'],
  [`${G}/dir/`, 'sin'],
  [`${G}/dir/@14.3,-90.3,12z`, 'sin'],
  ['https://maps.google.com/maps?saddr=14.1,-90.1&daddr=14.6,-90.5&ll=14.3,-90.3', '14.6,-90.5'],
  ['https://maps.google.com/maps?daddr=14.3,-90.3+to:14.6,-90.5', '14.6,-90.5'],
  ['https://maps.google.com/maps?saddr=14.1,-90.1&daddr=Casa&ll=14.3,-90.3', 'sin'],
  ['https://maps.google.com/maps?saddr=14.1,-90.1', 'sin'],
])

tabla('Waze', [
  ['https://waze.com/ul?ll=14.6,-90.5', '14.6,-90.5'],
  ['https://www.waze.com/ul?ll=14.6%2C-90.5&navigate=yes&zoom=17', '14.6,-90.5'],
  ['https://ul.waze.com/ul?place=ChIJ&ll=14.6%2C-90.5&navigate=yes&utm_source=x', '14.6,-90.5'],
  ['https://waze.com/ul?q=Casa&ll=14.6,-90.5', '14.6,-90.5'],
  ['https://waze.com/ul?q=14.6,-90.5', '14.6,-90.5'],
  ['https://www.waze.com/live-map/directions?to=ll.14.6%2C-90.5', '14.6,-90.5'],
  ['https://www.waze.com/es/live-map/directions?to=ll.14.6,-90.5&from=ll.14.1,-90.1', '14.6,-90.5'],
  ['https://www.waze.com/live-map/directions?latlng=14.6%2C-90.5', '14.6,-90.5'],
  ['https://www.waze.com/livemap?zoom=17&lat=14.6&lon=-90.5', '14.6,-90.5'],
  // The same place as Google's in the table above, 16 m apart.
  ['https://waze.com/ul/h9fxek3cp4', '14.6446252,-90.5148768'],
  ['https://waze.com/ul/h9FXEK3CP4', '14.6446252,-90.5148768'],
  ['https://www.waze.com/ul/h9fxek3cp4/', '14.6446252,-90.5148768'],
  ['https://ul.waze.com/ul/h9fxek3cp4?navigate=yes', '14.6446252,-90.5148768'],
  ['https://waze.com/ul/hu4pruydqqvj', '57.6491106,10.4074397'], // the classic geohash example
  ['https://waze.com/ul/h9fxek3cp4?ll=14.6,-90.5', '14.6,-90.5'],
  ['https://waze.com/ul/h9fxek', 'sin'], // a cell of 1.2 km
  ['https://waze.com/ul/h9fxek3cpa', 'sin'], // `a` is not in the alphabet
  ['https://waze.com/ul/h9fxek3cp49fxek3cp4', 'sin'],
  ['https://waze.com/ul/h', 'sin'],
  ['https://waze.com/ul/9fxek3cp4', 'sin'],
  ['https://www.waze.com/live-map/directions?to=place.w.176.123', 'sin'],
  ['https://waze.com/ul?favorite=home&navigate=yes', 'sin'],
  ['https://waze.com/ul?ll=0,0', 'sin'],
  ['https://waze.com/', 'sin'],
])

tabla('Apple Maps', [
  ['https://maps.apple.com/?ll=14.6,-90.5', '14.6,-90.5'],
  ['https://maps.apple.com/?ll=14.6,-90.5&q=Casa&t=m', '14.6,-90.5'],
  ['https://maps.apple.com/?q=14.6,-90.5', '14.6,-90.5'],
  ['https://maps.apple.com/maps?daddr=14.6,-90.5&saddr=14.1,-90.1', '14.6,-90.5'],
  ['https://maps.apple.com/place?coordinate=14.6%2C-90.5&name=Casa', '14.6,-90.5'],
  ['https://maps.apple.com/directions?source=14.1,-90.1&destination=14.6,-90.5', '14.6,-90.5'],
  ['https://maps.apple.com/frame?center=14.6%2C-90.5&span=0.01,0.01', '14.6,-90.5'],
  ['https://maps.apple.com/?address=14.6,-90.5', 'sin'],
  ['https://maps.apple.com/?address=7a+avenida&auid=123', 'sin'],
  ['https://maps.apple.com/?q=Casa&sll=14.6,-90.5', 'sin'],
  ['https://maps.apple.com/?q=Casa&near=14.6,-90.5', 'sin'],
])

tabla('OpenStreetMap', [
  ['https://www.openstreetmap.org/?mlat=14.6&mlon=-90.5', '14.6,-90.5'],
  ['https://www.openstreetmap.org/?mlat=14.6&mlon=-90.5#map=15/14.1/-90.1', '14.6,-90.5'],
  ['https://openstreetmap.org/?mlat=14.6&mlon=-90.5&zoom=15', '14.6,-90.5'],
  ['https://www.openstreetmap.org/?mlat=%2B14.6&mlon=+90.5', '14.6,90.5'],
  ['https://www.openstreetmap.org/#map=15/14.6/-90.5', '14.6,-90.5'],
  ['https://www.openstreetmap.org/#map=15/14.6/-90.5&layers=N', '14.6,-90.5'],
  ['https://www.openstreetmap.org/node/123#layers=N&map=15/14.6/-90.5', '14.6,-90.5'],
  ['https://www.openstreetmap.org/search?query=14.6,-90.5#map=15/14.1/-90.1', '14.6,-90.5'],
  ['https://www.openstreetmap.org/directions?route=14.1,-90.1;14.6,-90.5#map=12/14.3/-90.3', '14.6,-90.5'],
  ['https://www.openstreetmap.org/directions?from=14.1,-90.1&to=14.6%2C-90.5', '14.6,-90.5'],
  ['https://www.openstreetmap.org/directions?to=Casa#map=12/14.3/-90.3', 'sin'],
  ['https://www.openstreetmap.org/?lat=14.6&lon=-90.5&zoom=17', '14.6,-90.5'],
  ['https://www.openstreetmap.org/go/0EEQjEEb', '51.5110034,0.0550067'], // osm.wiki/Shortlink: 51.5110, 0.0550
  ['https://www.openstreetmap.org/go/0EEQjEEb--?m', '51.5110034,0.0550067'],
  ['https://www.openstreetmap.org/go/ecetE--', 'sin'], // a cell of 600 m
  ['https://www.openstreetmap.org/go/0EEQ*EEb', 'sin'],
  ['https://www.openstreetmap.org/go/', 'sin'],
  ['https://www.openstreetmap.org/?mlat=14.6', 'sin'],
  ['https://www.openstreetmap.org/?mlat=1e1&mlon=-90.5', 'sin'],
  ['https://www.openstreetmap.org/#map=15/14.6', 'sin'],
  ['https://www.openstreetmap.org/#map=3/0/0', 'sin'],
  ['https://www.openstreetmap.org/way/123', 'sin'],
])

const GEO_INVALIDO = /no lleva latitud y longitud válidas/
tabla('geo:', [
  ['geo:14.6,-90.5', '14.6,-90.5'],
  ['GEO:14.6,-90.5', '14.6,-90.5'],
  ['geo:14.6,-90.5,1500', '14.6,-90.5'],
  ['geo:14.6,-90.5,-3.5', '14.6,-90.5'],
  ['geo:14.6,-90.5;u=35', '14.6,-90.5'],
  ['geo:14.6,-90.5;crs=wgs84', '14.6,-90.5'],
  ['geo:14.6,-90.5,1500;crs=WGS84;u=35;x=y', '14.6,-90.5'],
  ['geo:14.6%2C-90.5', '14.6,-90.5'],
  ['geo:+14.6,+90.5', '14.6,90.5'],
  ['geo:14.6,-90.5?z=17', '14.6,-90.5'],
  ['geo:14.6,-90.5?q=Casa', '14.6,-90.5'],
  ['geo:0,0?q=14.6,-90.5(Casa)', '14.6,-90.5'],
  ['geo:0,0?q=14.6,-90.5', '14.6,-90.5'],
  ['geo:0,0?z=17&q=14.6%2C-90.5(Casa%20de%20Ana)', '14.6,-90.5'],
  ['geo:14.1,-90.1?q=14.6,-90.5(Casa)', '14.6,-90.5'],
  ['geo:0,0', 'sin'],
  ['geo:0,0?q=7a+avenida', 'sin'],
  ['geo:0,0?q=0,0(Casa)', 'sin'],
  ['geo:14.6,-90.5;crs=nad27', /otro sistema de coordenadas/],
  ['geo:14.6,-90.5;crs=', /otro sistema de coordenadas/],
  ['geo:14.6,-90.5;crs=wgs84;crs=Moon-2011', /otro sistema de coordenadas/],
  ['geo:', GEO_INVALIDO],
  ['geo:Guatemala', GEO_INVALIDO],
  ['geo:14.6', GEO_INVALIDO],
  ['geo:?q=14.6,-90.5', GEO_INVALIDO],
  ['geo:14.6,-90.5,abc', GEO_INVALIDO],
  ['geo:14.6,-90.5,1,2', GEO_INVALIDO],
  ['geo:1e1,-90.5', GEO_INVALIDO],
  ['geo:-90.5069,14.6349,0x1', GEO_INVALIDO],
  ['geo:-100.5,14.6', GEO_INVALIDO],
  ['geo:14.6,180.5', GEO_INVALIDO],
  ['geo://14.6,-90.5', GEO_INVALIDO],
])

describe('configuración y límites', () => {
  it('admite solo los hosts configurados', () => {
    const hosts = ['mapas.example', 'maps.google.*', 'otro.example/mapa']
    expect(leer(`https://mapas.example/?q=${P}`, hosts)).toBe(P)
    expect(leer(`https://otro.example/mapa/x?q=${P}`, hosts)).toBe(P)
    expect(leer(`https://maps.google.com.gt/?q=${P}`, hosts)).toBe(P)
    expect(() => leer(`https://otro.example/?q=${P}`, hosts)).toThrow(RUTA)
    expect(() => leer(`https://waze.com/ul?ll=${P}`, hosts)).toThrow(NO_ES_MAPA)
    expect(() => leer(`https://waze.com/ul?ll=${P}`, [])).toThrow(NO_ES_MAPA)
  })

  it('admite 2,048 caracteres y rechaza 2,049', () => {
    const justo = `${G}?q=${P}&x=`.padEnd(2048, 'a')
    expect(leer(justo)).toBe(P)
    expect(() => leer(`${justo}a`)).toThrow(/pasa de 2,048 caracteres/)
  })

  it('no repite en el mensaje un dominio desmedido', () => {
    expect(() => leer(`https://${'a'.repeat(2000)}.com/`)).toThrow(/^.{0,200}$/)
  })
})

// --- Properties ---

/** Reads it and checks that the answer is sound, or else that the refusal is an ErrorEnlace with a whole sentence. */
function leerSano(texto: string): void {
  try {
    const leido = leerEnlace(texto)
    if (leido.tipo !== 'coordenadas') {
      expect(['corto', 'sin_coordenadas']).toContain(leido.tipo)
      return
    }
    const { lat, lng } = leido.coordenadas
    expect(Math.abs(lat)).toBeLessThanOrEqual(90)
    expect(Math.abs(lng)).toBeLessThanOrEqual(180)
    expect([lat, lng].map((n) => Number(n.toFixed(7)))).toEqual([lat, lng])
    expect(lat === 0 && lng === 0).toBe(false)
  } catch (error) {
    if (!(error instanceof ErrorEnlace)) throw error
    expect(error.message).toMatch(/^[A-ZÁÉÍÓÚ«][^\p{Cc}]+\.$/u)
  }
}

const VALIDOS = [
  `${G}/place/Framig/@14.6447208,-90.5150638,20z/data=!4m6!3m5!1s0x8589a:0xa3e3!8m2!3d14.6447548!4d-90.5149382`,
  `${G}/dir/14.1,-90.1/B/data=!4m8!4m7!1m0!1m5!1m1!1s0xa:0xb!2m2!1d-75.1452789!2d39.9720698!3e0`,
  `${G}/place/14%C2%B038'26.5%22N+90%C2%B030'47.8%22W/`,
  'https://maps.google.com/?q=14.6,-90.5(Casa)&ll=14.1,-90.1',
  'https://www.waze.com/ul?ll=14.423210%2C-91.160490&navigate=yes',
  'https://waze.com/ul/h9fxek3cp4',
  'https://maps.apple.com/?ll=14.6,-90.5&q=Casa',
  'https://www.openstreetmap.org/?mlat=14.6&mlon=-90.5#map=15/14.1/-90.1',
  'https://www.openstreetmap.org/go/0EEQjEEb--?m',
  'https://maps.app.goo.gl/BNG51boEtrRhEYmi7',
  'geo:14.6,-90.5,10;crs=wgs84;u=35?q=14.6,-90.5(Casa)',
]
const trozo = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '/',
    '%',
    '%2C',
    '+',
    '-',
    '!3d',
    '!4d',
    '@',
    '?q=',
    '&',
    '#',
    '..',
    ':',
    ';',
    '999',
    '1e9',
    '(',
    '°',
  ),
)

describe('propiedades', () => {
  it('solo lanza ErrorEnlace y solo da puntos reales, con cualquier texto', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 2100 }), leerSano), { numRuns: 2000 })
    const prefijo = fc.constantFrom(`${G}/`, `${G}?q=`, `${G}/place/`, `${G}/dir/`, 'https://waze.com/ul/h', 'geo:')
    fc.assert(
      fc.property(prefijo, fc.array(trozo), (inicio, trozos) => leerSano(inicio + trozos.join(''))),
      { numRuns: 3000 },
    )
  })

  it('lo mismo con enlaces válidos estropeados', () => {
    const cambio = fc.tuple(fc.nat(200), fc.nat(8), trozo)
    fc.assert(
      fc.property(fc.constantFrom(...VALIDOS), fc.array(cambio, { minLength: 1, maxLength: 4 }), (enlace, cambios) => {
        let texto = enlace
        for (const [en, quita, pone] of cambios) {
          const i = en % (texto.length + 1)
          texto = texto.slice(0, i) + pone + texto.slice(i + quita)
        }
        leerSano(texto)
      }),
      { numRuns: 5000 },
    )
  })

  it('nunca admite un host fuera de la lista', () => {
    const etiqueta = fc.stringMatching(/^[a-z0-9.-]{1,20}$/)
    fc.assert(
      fc.property(etiqueta, fc.constantFrom('google.com', 'maps.google.com', 'waze.com'), (basura, host) => {
        fc.pre(!['www.', 'maps.', 'ul.'].includes(basura))
        expect(() => leer(`https://${basura}${host}/maps?q=${P}`)).toThrow(NO_ES_MAPA)
        expect(() => leer(`https://${host}.${basura}.example/maps?q=${P}`)).toThrow(NO_ES_MAPA)
      }),
    )
  })

  it('un mismo punto se lee igual en todas las formas', () => {
    const grado = (maximo: number) => fc.integer({ min: -maximo * 1e7, max: maximo * 1e7 }).map((n) => n / 1e7)
    fc.assert(
      fc.property(grado(90), grado(180), (x, y) => {
        const [lat, lng] = [x.toFixed(7), y.toFixed(7)]
        const esperado = leer(`${G}?q=${lat},${lng}`)
        expect(esperado).toBe(x === 0 && y === 0 ? 'sin' : `${x},${y}`)
        for (const enlace of [
          `${G}/place/x/data=!3d${lat}!4d${lng}`,
          `${G}/dir//x/data=!1m5!1m1!1s0xa:0xb!2m2!1d${lng}!2d${lat}`,
          `${G}/@${lat},${lng},17z`,
          `${G}/dir/x/${lat},+${lng}`,
          `https://waze.com/ul?ll=${lat}%2C${lng}`,
          `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}`,
          `https://www.openstreetmap.org/#map=15/${lat}/${lng}`,
          `geo:${lat},${lng}`,
        ]) {
          expect(leer(enlace)).toBe(esperado)
        }
      }),
    )
  })

  it('termina pronto con 2,048 caracteres hostiles', () => {
    const rellenos =
      "1 , + - ! ( @ / % %2C %20 + . ° ' \" !3d !4d !3d1 !2m2!1d1!2d1 1,1 1. 14°1' to: ; loc: (( ) &q= &q=1,1 # a. -- h 😀"
    const inicios = [
      'https://',
      'https://a@',
      'https://www.google.com:',
      `${G}?q=`,
      `${G}?q=14.6`,
      `${G}?q=14.6,-90.5(`,
      `${G}?q=14°`,
      `${G}/place/`,
      `${G}/dir/`,
      `${G}/@1,`,
      `${G}/place/x/data=`,
      `${G}?daddr=1`,
      'https://waze.com/ul/h',
      'https://www.openstreetmap.org/go/',
      'https://www.openstreetmap.org/#map=',
      'geo:',
      'geo:1,1;crs=wgs84',
      'geo:0,0?q=',
    ]
    let peor = 0
    for (const inicio of inicios) {
      for (const relleno of rellenos.split(' ')) {
        const texto = inicio.padEnd(2048, relleno)
        const antes = performance.now()
        leerSano(texto)
        leerSano(`${texto.slice(0, 2047)}\u0001`)
        peor = Math.max(peor, performance.now() - antes)
      }
    }
    // A quadratic pattern would take far longer; the margin is for busy machines.
    expect(peor).toBeLessThan(250)
  })
})
