# Speaks the protocol of `codex app-server`, as far as tests need it. Sessions are files in $HOME/sessions with a
# line for each prompt. It asks for each command it is told, but for those that have PLAIN in them.
printf '%s\n' "$*" >>"$HOME/starts"
mkdir -p "$HOME/sessions"
out() { printf '%s\n' "$1"; }
field() { printf '%s' "$2" | sed 's/.*"'"$1"'":"//; s/".*//'; }
IFS= read -r hello
IFS= read -r initialized
IFS= read -r start
out '{"id":1,"result":{"userAgent":"codex"}}'
out '{"method":"configWarning","params":{"summary":"no sandbox"}}'
case $start in
  *thread/resume*)
    thread=$(field threadId "$start")
    if [ ! -f "$HOME/sessions/$thread" ]; then
      out '{"id":2,"error":{"code":-32600,"message":"no rollout found for thread id '"$thread"'"}}'
      exit 1
    fi ;;
  *) thread=t$$ ;;
esac
case $start in *'"approvalPolicy":"untrusted"'*) ;; *) exit 2 ;; esac
out '{"id":2,"result":{"thread":{"id":"'"$thread"'"}}}'
IFS= read -r turn
prompt=$(field text "$turn")
printf '%s\n' "$prompt" >>"$HOME/sessions/$thread"
out '{"id":3,"result":{"turn":{"id":"u1","status":"inProgress"}}}'
item() { out '{"method":"item/'"$1"'","params":{"threadId":"'"$thread"'","item":{"type":"commandExecution","id":"c1","command":"'"$prompt"'","status":"'"$2"'","aggregatedOutput":null,"exitCode":'"$3"'}}}'; }
delta() { out '{"method":"item/agentMessage/delta","params":{"threadId":"'"$1"'","itemId":"m1","delta":"'"$2"'"}}'; }
case $prompt in
  *PLAIN*) ;;
  *flood*)
    i=0
    while [ $i -lt 5000 ]; do
      out '{"method":"no/such","id":'$i',"params":{}}'
      i=$((i + 1))
    done
    exec sleep 60 ;;
  *)
    item started inProgress null
    out '{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"'"$thread"'","itemId":"c1","command":"'"$prompt"'"}}'
    case $prompt in
      *regret*) out '{"method":"serverRequest/resolved","params":{"threadId":"'"$thread"'","requestId":0}}'; item completed declined null ;;
      *)
        IFS= read -r reply
        case $reply in
          *'"decision":"accept"'*) printf '%s\n' "$prompt" >>"$HOME/done"; item completed completed 0 ;;
          *) item completed declined null ;;
        esac ;;
    esac ;;
esac
delta other "not mine"
delta "$thread" Hel
delta "$thread" lo
out '{"method":"item/completed","params":{"threadId":"'"$thread"'","item":{"type":"agentMessage","id":"m1","text":"Hello, '"$(tr '\n' ';' <"$HOME/sessions/$thread")"'"}}}'
out '{"method":"thread/tokenUsage/updated","params":{"threadId":"'"$thread"'","tokenUsage":{"total":{"inputTokens":'"$(wc -l <"$HOME/sessions/$thread")"'0,"cachedInputTokens":0,"outputTokens":3}}}}'
out '{"method":"turn/completed","params":{"threadId":"'"$thread"'","turn":{"id":"u1","status":"completed","error":null}}}'
IFS= read -r end
