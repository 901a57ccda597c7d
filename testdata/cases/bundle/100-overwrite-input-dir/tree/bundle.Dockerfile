FROM scratch
LABEL a=b
