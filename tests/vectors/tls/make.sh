#!/bin/sh
# Makes the certificates of this folder: an authority, and a server certificate for localhost signed by it.
# They are for tests only and last a hundred years.
set -eu
cd "$(dirname "$0")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=orgpods test authority" \
  -keyout authority_key.pem -out authority.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=localhost" \
  -keyout localhost_key.pem -out localhost.csr
printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n' > localhost.ext
openssl x509 -req -in localhost.csr -CA authority.pem -CAkey authority_key.pem -CAcreateserial -days 36500 \
  -extfile localhost.ext -out localhost.pem
rm -f authority_key.pem localhost.csr localhost.ext authority.srl
