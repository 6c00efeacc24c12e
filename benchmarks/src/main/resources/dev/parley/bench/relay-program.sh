# Prints $1 tokens in the format of Claude Code, after it has read a prompt and the file $2 exists.
read -r question
while [ ! -e "$2" ]; do sleep 0.02; done
exec awk -v tokens="$1" 'BEGIN {
  id = "\"parent_tool_use_id\":null,\"session_id\":\"5a1e5f0c-0000-4000-8000-000000000000\",\"uuid\":\"5a1e5f0c-0000-4000-8000-000000000001\""
  print "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/\",\"session_id\":\"5a1e5f0c-0000-4000-8000-000000000000\",\"tools\":[],\"mcp_servers\":[],\"model\":\"relay\",\"permissionMode\":\"default\"}"
  print "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"relay\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}," id "}"
  print "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}," id "}"
  split("the river runs past houses that nobody has lived in since the bridge fell and still the lamps burn every night", words, " ")
  for (i = 1; i <= tokens; i++)
    print "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" " words[1 + i % 21] "\"}}," id "}"
  print "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_stop\",\"index\":0}," id "}"
  print "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":" tokens "}}," id "}"
  print "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_stop\"}," id "}"
  print "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":1,\"num_turns\":1,\"result\":\"done\",\"session_id\":\"5a1e5f0c-0000-4000-8000-000000000000\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":1,\"output_tokens\":" tokens "}}"
}'
