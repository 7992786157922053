# Never built so far: written on a machine without Docker.
#   docker build --tag monsterzoo .
#   docker run --rm monsterzoo arena pikit_v0 --policies random heuristic
FROM python:3.11-slim

# Code compiled here has to run on other processors than that of the machine which builds the image.
ENV MONSTERZOO_CACHE_DIR=/home/player/cache NUMBA_CPU_NAME=generic PIP_NO_CACHE_DIR=1
COPY . /source
RUN pip install --constraint /source/constraints.txt "/source[all]" && rm -r /source

RUN useradd --create-home player
USER player
WORKDIR /home/player
RUN monsterzoo compile
ENTRYPOINT ["monsterzoo"]
CMD ["games"]
