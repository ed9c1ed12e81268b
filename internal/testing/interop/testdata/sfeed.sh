# The lines of sfeed: time, title, link, content, content type, id, author, enclosure.
curl -sS "$1" | sfeed | jq -Rc 'split("\t") |
	{published: .[0], title: .[1], link: .[2], summary: .[3], id: .[5], author: .[6], enclosure: .[7]}'
