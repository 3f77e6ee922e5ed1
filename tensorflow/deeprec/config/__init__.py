"""DeepRec's fields of ConfigProto: `fields` adds them to the proto, `effects` does at session creation what they ask for."""
