# needs: tar find
# Ways to a directory by other spellings, and by relative paths from above it.
here=$PWD above=$(dirname "$PWD") name=$(basename "$PWD")
mkdir -p d/e && echo text >d/f
cat "$above//$name/./d/f" "/$here/d/f" "/.$here//d/f" "/..$here/d/f" "$here/../$name/d/f"
cat "../$name/d/f" "../../$(basename "$above")/$name/d/f" "$here/d/../../$name/d/f"
cd "$above" && cat "$name/d/f" "./$name/d/f" "$name/../$name/d/f" ".//./$name/d/e/../f"
cd / && cat ".$here/d/f" "${here#/}/d/f"
cd "$above" && cd "$name/d" && cat f && cd ../.. && pwd | sed "s,$above,above," && cat "$name/d/f"
echo more >>"$name/d/f" && ln -s d "$name/link" && cat "$name/link/f" && stat -c %s "$name/d/f"
cp "$name/d/f" "$name/../$name/g" && mv "$name/g" "$name/d/h" && rm "../$(basename "$above")/$name/d/h"
tar cf - "$name/d" | tar tf - | sort && find "$name" | sort
rmdir "$name" || mkdir "$name" || ls -d "$name" "$name/" "$name/." && stat -c %F "$name"
cat "$name/none" "${name}x/none" "$name/d/f/" || echo none of them
mkdir "$name/new" && cd "$name/new" && cd "$OLDPWD" && rmdir "$name/new" && ls "$name"
