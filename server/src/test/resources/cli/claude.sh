# Speaks the protocol of Claude Code, as far as tests need it. Sessions are files in $HOME/sessions: one
# line for each turn, its place and its prompt. What it does is the first word of what it is told last.
session= place= fork= previous= wait=
for word in "$@"; do
  case $previous in
    --resume) session=$word ;;
    --resume-session-at) place=$word ;;
    --mcp-config) { ls -l "$word" | cut -c1-10; cat "$word"; } >"$HOME/mcp"; printf '%s' "$word" >"$HOME/mcp-path" ;;
  esac
  [ "$word" = --fork-session ] && fork=yes
  previous=$word
done
printf '%s\n' "$*" >>"$HOME/starts"
mkdir -p "$HOME/sessions"
if [ -n "$session" ] && [ ! -f "$HOME/sessions/$session" ]; then
  echo "No conversation found with session ID: $session" >&2
  echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: '"$session"'"]}'
  exit 1
fi
id=$session
if [ -z "$session" ] || [ -n "$fork" ]; then
  id=s$$
  [ -z "$session" ] || sed "/^$place	/q" "$HOME/sessions/$session" >"$HOME/sessions/$id"
fi
[ "$(head -c 5 "$HOME/sleepy" 2>/dev/null)" = sleep ] && exec sleep 1000
IFS= read -r line
prompt=$(printf '%s' "$line" | sed 's/.*"text":"//; s/"}\]}}$//')
mark=m$$
printf '%s\t%s\n' "$mark" "$prompt" >>"$HOME/sessions/$id"

out() { printf '%s\n' "$1"; }
init() { out '{"type":"system","subtype":"init","session_id":"'"$id"'","model":"fake"}'; }
delta() { out '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'"$1"'"}},"session_id":"'"$id"'"}'; }
text() {
  out '{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg-'"$mark"'","model":"fake","usage":{"input_tokens":3}}}}'
  out '{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}'
  delta "$1"
  out '{"type":"assistant","message":{"id":"msg-'"$mark"'","model":"fake","content":[{"type":"text","text":"'"$1"'"}]},"uuid":"'"$mark"'","session_id":"'"$id"'"}'
  out '{"type":"stream_event","event":{"type":"content_block_stop","index":0}}'
}
result() { out '{"type":"result","subtype":"success","is_error":false,"result":"'"$1"'","session_id":"'"$id"'","modelUsage":{"fake":{"inputTokens":3,"outputTokens":4,"costUSD":0.5}}}'; }
answer() { text "$1"; result "$1"; }
call() { # id, command
  out '{"type":"assistant","message":{"id":"call-'"$1"'","model":"fake","content":[{"type":"tool_use","id":"'"$1"'","name":"Bash","input":{"command":"'"$2"'"}}]},"session_id":"'"$id"'","uuid":"u'"$1"'"}'
}
ended() { out '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"'"$1"'","content":"'"$2"'","is_error":'"$3"'}]},"session_id":"'"$id"'"}'; }
ask() { # id, command: asks, and does what it may
  call "$1" "$2"
  out '{"type":"control_request","request_id":"r'"$1"'","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"'"$2"'"},"tool_use_id":"'"$1"'"}}'
  [ -f "$HOME/stuck" ] && exec sleep 1000
  [ "$2" = "and leave" ] && exit 1
  IFS= read -r reply || exit 1
  case $reply in
    *'"behavior":"allow"'*)
      command=$(printf '%s' "$reply" | sed 's/.*"command":"//; s/".*//')
      printf '%s\n' "$command" >>"$HOME/done"
      ended "$1" "did $command" false ;;
    *) ended "$1" "$(printf '%s' "$reply" | sed 's/.*"message":"//; s/".*//')" true ;;
  esac
}
regret() { # command: asks, and takes that back; what it is told all the same goes to a file
  call t1 "$1"
  out '{"type":"control_request","request_id":"rt1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"'"$1"'"},"tool_use_id":"t1"}}'
  while [ -n "$wait" ] && [ ! -f "$HOME/go" ]; do sleep 0.02; done
  out '{"type":"control_cancel_request","request_id":"rt1"}'
  ended t1 "never mind" true
  cat >"$HOME/heard" &
}

# After a restart it goes on with the call that it had asked for.
case $prompt in
  *'A person has approved it now'*) last=again ;;
  *) last=$(printf '%s' "$prompt" | sed 's/.*\\n//; s/.*"//') ;;
esac
rest=${last#* }
case ${last%% *} in
  say) init; answer "$rest" ;;
  recall) init; answer "I know: $(cut -f2 "$HOME/sessions/$id" | tr '\n' '|' | sed 's/\\/\\\\/g; s/"//g')" ;;
  ask) init; ask t1 "$rest"; answer done ;;
  regret) init; regret "$rest"; answer "never mind" ;;
  waver) init; wait=yes; regret "$rest"; answer "never mind" ;;
  again) init; ask t2 "touch it"; answer done ;;
  two) init; ask t1 one; ask t2 two; answer done ;;
  open) init; call t1 "$rest"; sleep 1000 ;;
  hang) init; text begun; sleep 1000 ;;
  heed) init; delta begun; IFS= read -r line; case $line in *interrupt*) echo heeded >"$HOME/heeded"; out '{"type":"result","subtype":"error_during_execution","is_error":true}' ;; esac ;;
  die) init; call t1 "$rest"; delta begun; kill -9 $$ ;;
  quit) init; echo "something is wrong" >&2; exit 3 ;;
  fail) init; out '{"type":"result","subtype":"success","is_error":true,"result":"no credit","api_error_status":429}' ;;
  noise) out 'Warning: noise'; init; printf '\033[1m{"type":"tomorrow"}\033[0m\r\n'; out '{"broken'; answer "$rest" ;;
  linger) init; answer lingering; sleep 1000 & echo $! >"$HOME/child"; sleep 1000 ;;
  silent) init; sleep 1000 ;;
  flood) init; while :; do delta 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789; done ;;
  hook) init; out '{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback"}}'; IFS= read -r reply; case $reply in *'"subtype":"error"'*) answer refused ;; *) answer "$reply" ;; esac ;;
  below)
    init
    out '{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t0","name":"Task","input":{"subagent_type":"Explore","prompt":"look"}}]}}'
    ask t1 "$rest"; answer done ;;
  stranger)
    init
    out '{"type":"assistant","parent_tool_use_id":"t9","message":{"id":"m2","content":[{"type":"text","text":"who am I"},{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a"}}]}}'
    answer "$rest" ;;
  agent)
    init
    out '{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"subagent_type":"Explore","prompt":"look"}}]}}'
    out '{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"m2","content":[{"type":"text","text":"I look"}]}}'
    out '{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a"}}]}}'
    out '{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"text"}]}}'
    [ "$rest" = lost ] && exit 0
    [ "$rest" = fails ] && { ended t1 "out of luck" true; answer "it failed"; exit 0; }
    ended t1 found false
    answer "it found" ;;
  *) init; answer "you said $last" ;;
esac
