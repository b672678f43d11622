"""Un receptor de webhooks entero. Solo necesita Python 3.

mkdir -p avisos; GUIAS_SECRETO=whsec_… python3 receptor.py
"""
import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LIMITE = 1024 * 1024


def vale(cuerpo, cabeceras, secreto, ahora=None):
    """Dice si el servicio firmó estos bytes hace menos de 5 minutos."""
    id = cabeceras.get('webhook-id', '')
    hora = cabeceras.get('webhook-timestamp', '')
    firmas = cabeceras.get('webhook-signature', '')
    if not re.fullmatch('[0-9]{1,15}', hora):
        return False
    if abs(int(time.time() if ahora is None else ahora) - int(hora)) > 300:
        return False
    clave = base64.b64decode(secreto.removeprefix('whsec_'))
    hmac_sha256 = hmac.digest(clave, f'{id}.{hora}.'.encode() + cuerpo, hashlib.sha256)
    buena = b'v1,' + base64.b64encode(hmac_sha256)
    return any([hmac.compare_digest(buena, una.encode()) for una in firmas.split(' ')])


def guardar(id, cuerpo):
    """Guarda un archivo por aviso, entero o ninguno. En su servidor, use una tabla con el id como llave única."""
    archivo = f"{os.environ.get('GUIAS_AVISOS', 'avisos')}/{id}.json"
    if os.path.exists(archivo):
        return False
    with open(archivo + '.parte', 'wb') as parte:
        parte.write(cuerpo)
    os.replace(archivo + '.parte', archivo)
    return True


def recibir(cuerpo, cabeceras):
    """Comprueba y guarda el aviso, y da el estado HTTP de la respuesta. Sirve igual en Django, Flask o FastAPI."""
    try:
        if not vale(cuerpo, cabeceras, os.environ['GUIAS_SECRETO']):
            print('rechazado', file=sys.stderr)
            return 400
        aviso = json.loads(cuerpo)
        nuevo = guardar(aviso['id'], cuerpo)
        print('recibido' if nuevo else 'repetido', aviso['id'], aviso['tipo'], flush=True)
        return 204  # el aviso ya está guardado: conteste ahora y trabaje después
    except Exception as error:
        print('sin guardar', repr(error), file=sys.stderr)
        return 500  # el aviso volverá a llegar


class Receptor(BaseHTTPRequestHandler):
    timeout = 15  # corta las conexiones que no terminan de enviar

    def do_POST(self):
        largo = self.headers.get('Content-Length', '0')
        if not re.fullmatch('[0-9]{1,9}', largo) or int(largo) > LIMITE:
            return self.contestar(413)
        cuerpo = self.rfile.read(int(largo))
        if len(cuerpo) == int(largo):  # si no, la conexión se cortó
            self.contestar(recibir(cuerpo, self.headers))

    def contestar(self, status):
        self.send_response(status)
        self.send_header('Connection', 'close')
        self.end_headers()


if __name__ == '__main__':
    servidor = ThreadingHTTPServer(('127.0.0.1', int(os.environ.get('PORT', '8080'))), Receptor)
    print(f'escucho en http://127.0.0.1:{servidor.server_port}', flush=True)
    servidor.serve_forever()
