from viva.cli import main

main()
