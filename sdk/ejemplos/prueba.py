"""Comprueba una prueba de entrega sin preguntar a nadie. Debian: apt install python3-cryptography

python3 prueba.py GUIA manifiesto.txt jwks.json [prueba.pdf foto.jpg …]
"""
import base64
import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def de_base64url(texto):
    return base64.b64decode(texto + '=' * (-len(texto) % 4), altchars=b'-_', validate=True)


def comprobar(guia, manifiesto, claves, archivos):
    """Da el manifiesto si la firma es buena y cada archivo es uno de los suyos; si no, lanza ValueError."""
    try:
        cabeza, cuerpo, firma = manifiesto.split('.')
        cabecera = json.loads(de_base64url(cabeza))
        alg, typ, kid = cabecera['alg'], cabecera['typ'], cabecera['kid']
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError('el manifiesto no se puede leer') from error
    # Usted decide qué algoritmo vale, nunca el manifiesto.
    if alg != 'EdDSA' or typ != 'prueba-entrega+jws' or 'crit' in cabecera:
        raise ValueError('no es una prueba de entrega')
    clave = next((una for una in claves['keys'] if una['kid'] == kid), None)
    if clave is None or (clave['kty'], clave['crv']) != ('OKP', 'Ed25519'):
        raise ValueError('la clave que firmó no está entre las que usted tiene: pídalas otra vez')
    try:
        publica = Ed25519PublicKey.from_public_bytes(de_base64url(clave['x']))
        publica.verify(de_base64url(firma), f'{cabeza}.{cuerpo}'.encode())
    except (InvalidSignature, ValueError) as error:
        raise ValueError('la firma no corresponde') from error
    firmado = json.loads(de_base64url(cuerpo))
    if firmado['guia'] != guia:
        raise ValueError(f"la prueba es de la guía {firmado['guia']}")
    huellas = {uno['sha256'] for uno in firmado['archivos']}
    for i, archivo in enumerate(archivos):
        if hashlib.sha256(archivo).hexdigest() not in huellas:
            raise ValueError(f'el archivo {i + 1} no es de esta prueba')
    return firmado


def leer(nombre):
    with open(nombre, 'rb') as archivo:
        return archivo.read()


if __name__ == '__main__':
    guia, manifiesto, claves, *archivos = sys.argv[1:]
    try:
        firmado = comprobar(guia, leer(manifiesto).decode().strip(), json.loads(leer(claves)), map(leer, archivos))
    except ValueError as error:
        sys.exit(f'NO VALE: {error}')
    print('vale:', firmado['guia'], firmado['entregado_en'])
