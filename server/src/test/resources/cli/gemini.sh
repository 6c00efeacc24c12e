# Speaks the protocol of `gemini --acp`, as far as tests need it. Sessions are files in $HOME/sessions with a
# line for each prompt. It asks for each command it is told, but for those that have PLAIN in them.
printf '%s\n' "$*" >>"$HOME/starts"
mkdir -p "$HOME/sessions"
out() { printf '%s\n' "$1"; }
field() { printf '%s' "$2" | sed 's/.*"'"$1"'":"//; s/".*//'; }
update() { out '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"'"$session"'","update":{"sessionUpdate":"'"$1"'",'"$2"'}}}'; }
words() { update agent_message_chunk '"content":{"type":"text","text":"'"$1"'"}'; }
IFS= read -r hello
IFS= read -r start
out '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
case $start in
  *session/load*)
    session=$(field sessionId "$start")
    if [ ! -f "$HOME/sessions/$session" ]; then
      out '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error","data":{"details":"Invalid session identifier"}}}'
      exit 1
    fi
    words "told before"
    out '{"jsonrpc":"2.0","id":2,"result":{}}'
    words "told after it said that it was loaded" ;;
  *) session=g$$; out '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"'"$session"'"}}' ;;
esac
rounds=0
while IFS= read -r turn; do
  case $turn in *session/prompt*) break ;; esac
  rounds=$((rounds + 1))
  [ $rounds -lt 3 ] && words "and still tells"
  out '{"jsonrpc":"2.0","id":4,"result":{}}'
done
prompt=$(field text "$turn")
printf '%s\n' "$prompt" >>"$HOME/sessions/$session"
case $prompt in
  *PLAIN*) ;;
  *)
    out '{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"'"$session"'","options":[{"optionId":"always","kind":"allow_always"},{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}],"toolCall":{"toolCallId":"run_shell_command__1","status":"pending","title":"'"$prompt"'","content":[],"locations":[],"kind":"execute"}}}'
    IFS= read -r reply
    case $reply in
      *'"optionId":"once"'*)
        printf '%s\n' "$prompt" >>"$HOME/done"
        update tool_call_update '"toolCallId":"run_shell_command__1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ran"}}]' ;;
    esac ;;
esac
words Hel
words "lo, $(tr '\n' ';' <"$HOME/sessions/$session")"
out '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"quota":{"model_usage":[{"model":"gem","token_count":{"input_tokens":5,"output_tokens":3}}]}}}}'
IFS= read -r end
