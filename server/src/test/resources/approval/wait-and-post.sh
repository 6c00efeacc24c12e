# wait-and-post.sh FOLDER: waits for FOLDER/go, which sets PORT, PATHNAME and BODY, posts, and leaves the reply in
# FOLDER/reply.
while [ ! -e "$1/go" ]; do sleep 0.05; done
. "$1/go"
/bin/bash "${0%/*}/post.sh" "$PORT" "$PATHNAME" "$BODY" > "$1/reply.part"
mv "$1/reply.part" "$1/reply"
while [ ! -e "$1/end" ]; do sleep 0.05; done
