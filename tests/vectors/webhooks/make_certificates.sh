#!/bin/sh
# Makes the certificates of this folder: an authority, and a server certificate for hooks.example.org signed by it.
# They are for tests only and last a hundred years.
set -eu
cd "$(dirname "$0")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=orgpods test authority" \
  -keyout authority_key.pem -out authority.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=hooks.example.org" \
  -keyout server_key.pem -out server.csr
printf 'subjectAltName=DNS:hooks.example.org\nbasicConstraints=CA:FALSE\n' > server.ext
openssl x509 -req -in server.csr -CA authority.pem -CAkey authority_key.pem -CAcreateserial -days 36500 \
  -extfile server.ext -out server.pem
rm -f authority_key.pem server.csr server.ext authority.srl
